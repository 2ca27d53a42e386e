# SPDX-License-Identifier: GPL-3.0-or-later
# What each mechanism of SlipStream adds (Fig. 12).
height = 1.9
rows = 2
load 'style.gp'

series(i) = word('"40 MB" "16 MB"', i)
array labels[5] = ["H3", "+ demand\norder", "+ SSHR\nstaging", "+ paced\nadmission", "+ aware\neviction"]
array colours[2] = [blue, sky]
bar = 0.36
at(i) = column('position') + (i - 1.5)*bar
y(source, i) = when(source, series(i), column('performance'))
low(i) = when(closed, series(i), column('performance_lo'))
high(i) = when(closed, series(i), column('performance_hi'))

set yrange [0:1.35]
set ytics 0.2
set xrange [0.5:5.5]
set bmargin at screen 0.40/height
set label 101 'performance, share of ideal' at @left
plot for [i = 1:2] data using (at(i)):(y(simulator, i)):(0.92*bar) \
         with boxes linecolor rgb colours[i] title series(i), \
     for [i = 1:2] data using (at(i)):(low(i)):(0):(high(i) - low(i)) \
         with vectors arrowstyle 2 notitle, \
     for [i = 1:2] data using (at(i) - 0.46*bar):(y(closed, i)):(0.92*bar):(0) \
         with vectors arrowstyle 1 notitle, \
     for [k = 2:1:-1] for [i = 1:2] data using (at(i)):(y(published, i)) \
         with points linestyle k notitle, \
     data using 'position':(0):xtic(labels[int(column('position'))]) \
         with points pointtype -1 notitle, \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
