# SPDX-License-Identifier: GPL-3.0-or-later
# Prefetches of a fixed distance that come on time, kernel by kernel.  Too far ahead they
# are evicted before anyone wants them: the cliff.
height = 3.1
rows = 1
load 'style.gp'

columns = 4
across = 3.4 - 0.42 - 0.06
panel_width = across/columns
panel_height = (height - 0.52)/4 # of up to sixteen kernels
stats data using 'position' name 'position' nooutput
kernels = int(position_max)
array names[kernels]
stats data using (column('position') <= kernels ? (names[int(column('position'))] = strcol('group'), 0) : 0) nooutput

set logscale x 2
set xrange [0.85:19]
set yrange [0:104]
set label 102 'distance (iterations)' at screen 0.53, screen 0.06/height center
set label 101 'on time (%)' at screen 0.075/width, screen 0.5 center rotate by 90
set multiplot
do for [p = 1:kernels] {
    row = (p - 1)/columns
    place = (p - 1)%columns
    set tmargin at screen 1 - (0.32 + row*panel_height)/height
    set bmargin at screen 1 - (0.16 + (row + 1)*panel_height)/height
    set lmargin at screen (0.42 + place*panel_width)/width
    set rmargin at screen (0.36 + (place + 1)*panel_width)/width
    set ytics 50 font tiny
    set format y (place == 0 ? '%g' : '')
    set xtics (1, 2, 4, 8, 16) font tiny
    set format x (p + columns > kernels ? '%g' : '')
    set label 24 names[p] at graph 0.5, graph 1.11 center font tiny
    plot data using (when(closed, 'stride', column('position') == p ? column('distance') : NaN)):(100*column('on_time_share')) \
             with lines linecolor rgb vermillion linewidth 1.2 title 'closed form', \
         data using (when(simulator, 'stride', column('position') == p ? column('distance') : NaN)):(100*column('on_time_share')) \
             with points pointtype 6 pointsize 0.8*ring linewidth 0.8 linecolor rgb blue title 'simulator'
    unset key
    unset label 101
    unset label 102
}
unset multiplot
