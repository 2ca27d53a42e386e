# SPDX-License-Identifier: GPL-3.0-or-later
# Performance of each policy, model by model (Fig. 8, left).
height = 2.1
rows = 3
load 'style.gp'

series(i) = word('"on demand" "H3 40 MB" "H3 160 MB" "H3 320 MB" "SlipStream 16 MB" "SlipStream 40 MB"', i)
array colours[6] = [grey, yellow, orange, vermillion, sky, blue]
bar = 0.14
at(i) = column('position') + (i - 3.5)*bar
y(source, i) = when(source, series(i), column('performance'))
low(i) = when(closed, series(i), column('performance_lo'))
high(i) = when(closed, series(i), column('performance_hi'))

set yrange [0:1.3]
set ytics 0.2
set xrange [0.45:8.55]
set label 101 'performance, share of ideal' at @left
plot for [i = 1:6] data using (at(i)):(y(simulator, i)):(0.92*bar) \
         with boxes linecolor rgb colours[i] title series(i), \
     for [i = 1:6] data using (at(i)):(low(i)):(0):(high(i) - low(i)) \
         with vectors arrowstyle 2 notitle, \
     for [i = 1:6] data using (at(i) - 0.46*bar):(y(closed, i)):(0.92*bar):(0) \
         with vectors arrowstyle 1 notitle, \
     for [k = 2:1:-1] for [i = 1:6] data using (at(i)):(y(published, i)) \
         with points linestyle k notitle, \
     data using 'position':(0):xtic(short(strcol('group'))) with points pointtype -1 notitle, \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
