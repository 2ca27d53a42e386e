# SPDX-License-Identifier: GPL-3.0-or-later
# Share of the sectors evicted from L1 that demand had fetched and a prefetch pushes out
# (Fig. 5).  Published is the mean of Snake.
height = 2.1
rows = 2
load 'style.gp'

series(i) = word('SK SK+SC', i)
array colours[2] = [vermillion, sky]
bar = 0.4
at(i) = column('position') + (i - 1.5)*bar
y(source, i) = when(source, series(i), 100*column('demand_evictions_share'))

set yrange [0:45]
set ytics 10
set xrange [0.4:15.6]
set xtics rotate by 90 right font tiny offset 0, 0.1 scale 0
set bmargin at screen 0.66/height
set label 101 'of all evictions (%)' at @left
plot for [i = 1:2] data using (at(i)):(y(simulator, i)):(0.92*bar) \
         with boxes linecolor rgb colours[i] title series(i), \
     for [i = 1:2] data using (at(i) - 0.46*bar):(y(closed, i)):(0.92*bar):(0) \
         with vectors arrowstyle 1 notitle, \
     for [j = 2:1:-1] for [i = 1:2] data using (at(i)):(y(published, i)) \
         with points linestyle j notitle, \
     data using 'position':(0):xtic(strcol('group')) with points pointtype -1 notitle, \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
