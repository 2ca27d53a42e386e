# SPDX-License-Identifier: GPL-3.0-or-later
# A hot window that moves between phases, on a coherent link (Fig. 11).
height = 2.0
rows = 3
load 'style.gp'

series(i) = word('"UVM" "prefetch" "mapped" "Ember static"', i)
array colours[4] = [vermillion, orange, grey, blue]
x = "(100*column('drift'))"
y(source, i) = when(source, series(i), column('time_s'))
low(i) = when(closed, series(i), column('time_s_lo'))
high(i) = when(closed, series(i), column('time_s_hi'))

set logscale y
set format y '%g'
set xrange [-3:103]
set xtics 25
set yrange [0.1:50]
set label 102 'hot set replaced in each phase (%)' at @bottom
set label 101 'time (s)' at @left
plot for [i = 1:4] data using (@x):(low(i)):(high(i)) \
         with filledcurves fillcolor rgb colours[i] fillstyle transparent solid band noborder notitle, \
     for [i = 1:4] data using (@x):(y(closed, i)) \
         with lines linecolor rgb colours[i] linewidth 1.2 title series(i), \
     for [i = 1:4] data using (@x):(y(simulator, i)) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb colours[i] notitle, \
     for [i = 1:4] data using (@x):(y(published, i)) \
         with points linestyle 2 linecolor rgb colours[i] notitle, \
     for [i = 1:4] data using (@x):(y(published, i)) \
         with points linestyle 1 notitle, \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with points linestyle 1 title 'published'
