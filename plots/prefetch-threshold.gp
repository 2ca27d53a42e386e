# SPDX-License-Identifier: GPL-3.0-or-later
# Gain of SnakeCharmer against the score below which a candidate is not issued (Fig. 21):
# 4 on an A100 and 5 on a V100 are the choice of the paper.
height = 1.7
rows = 2
load 'style.gp'

series(i) = word('A100 V100', i)
array colours[2] = [blue, orange]
y(source, i) = when(source, series(i), 100*(column('front_end_speedup') - 1))

set xrange [0.7:7.3]
set xtics 1
set yrange [0:30]
set ytics 10
set label 102 'score threshold' at @bottom
set label 101 'IPC over SK (%)' at @left
plot for [i = 1:2] data using 'score_threshold':(y(closed, i)) \
         with lines linecolor rgb colours[i] linewidth 1.2 title series(i), \
     for [j = 2:1:-1] for [i = 1:2] data using 'score_threshold':(y(published, i)) \
         with points linestyle j pointsize (j == 2 ? 2.2 : 1.6)*mark notitle, \
     for [i = 1:2] data using 'score_threshold':(y(simulator, i)) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb colours[i] notitle, \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with points linestyle 1 title 'published'
