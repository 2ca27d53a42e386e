# SPDX-License-Identifier: GPL-3.0-or-later
# Gain of SnakeCharmer against the feedback events between two moves of a distance (Fig. 23);
# the score threshold is 4 on the A100 and 5 on the V100.
height = 1.7
rows = 2
load 'style.gp'

series(i) = word('A100 V100', i)
array colours[2] = [blue, orange]
y(source, i) = when(source, series(i), 100*(column('front_end_speedup') - 1))

set xrange [1:33]
set xtics (3, 7, 11, 15, 19, 23, 27, 31)
set yrange [0:30]
set ytics 10
set label 102 'events in a window of the tuner' at @bottom
set label 101 'IPC over SK (%)' at @left
plot for [i = 1:2] data using 'window':(y(closed, i)) \
         with lines linecolor rgb colours[i] linewidth 1.2 title series(i), \
     for [j = 2:1:-1] for [i = 1:2] data using 'window':(y(published, i)) \
         with points linestyle j pointsize (j == 2 ? 2.2 : 1.6)*mark notitle, \
     for [i = 1:2] data using 'window':(y(simulator, i)) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb colours[i] notitle, \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with points linestyle 1 title 'published'
