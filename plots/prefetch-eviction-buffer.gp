# SPDX-License-Identifier: GPL-3.0-or-later
# Gain of SnakeCharmer against the evicted prefetches that the tuner remembers (Fig. 22);
# the score threshold is 4 on the A100 and 5 on the V100.
height = 1.7
rows = 2
load 'style.gp'

series(i) = word('A100 V100', i)
array colours[2] = [blue, orange]
y(source, i) = when(source, series(i), 100*(column('front_end_speedup') - 1))

set logscale x 2
set xrange [14:290]
set xtics (16, 32, 64, 128, 256)
set yrange [0:30]
set ytics 10
set label 102 'entries of the eviction buffer' at @bottom
set label 101 'IPC over SK (%)' at @left
plot for [i = 1:2] data using 'eviction_buffer':(y(closed, i)) \
         with lines linecolor rgb colours[i] linewidth 1.2 title series(i), \
     for [j = 2:1:-1] for [i = 1:2] data using 'eviction_buffer':(y(published, i)) \
         with points linestyle j pointsize (j == 2 ? 2.2 : 1.6)*mark notitle, \
     for [i = 1:2] data using 'eviction_buffer':(y(simulator, i)) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb colours[i] notitle, \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with points linestyle 1 title 'published'
