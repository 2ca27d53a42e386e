# SPDX-License-Identifier: GPL-3.0-or-later
# Performance of SlipStream on mixtures of experts (Fig. 14).
height = 1.9
rows = 2
load 'style.gp'

series(i) = word('"SlipStream 40 MB" "SlipStream 16 MB"', i)
array colours[2] = [blue, sky]
bar = 0.36
is_mean = "(strcol('group') eq 'geomean')"
place = "(@is_mean ? 5.3 : column('position') + (column('batch') > 8 ? 2 : 0))"
at(i) = @place + (i - 1.5)*bar
label = "(@is_mean ? 'mean' : sprintf(\"%s\nbatch %d\", short(strcol('group')), column('batch')))"
y(source, i) = when(source, series(i), column('performance'))
low(i) = when(closed, series(i), column('performance_lo'))
high(i) = when(closed, series(i), column('performance_hi'))

set yrange [0:1.25]
set ytics 0.2
set xrange [0.5:5.8]
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
     data using (@place):(0):xtic(@label) with points pointtype -1 notitle, \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
