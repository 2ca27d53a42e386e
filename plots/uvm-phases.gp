# SPDX-License-Identifier: GPL-3.0-or-later
# Throughput on both sides of a phase shift (Fig. 7), against the passes of a phase.
height = 2.0
rows = 2
load 'style.gp'

series(i) = word('"static" "adaptive"', i)
array colours[2] = [vermillion, blue]
array metrics[2] = ['first_phase_bytes_per_s', 'last_phase_bytes_per_s']
array dashes[2] = [2, 1]
array shapes[2] = [4, 6]
when_name(m) = m == 1 ? ', before' : ', after'
y(source, i, m) = when(source, series(i), column(metrics[m])/2**30)

set lmargin at screen 0.47/width
set logscale xy
set xrange [8:380]
set xtics (10, 30, 100, 300)
set yrange [10:2000]
set format y '%g'
set label 102 'passes over the hot array in each phase' at @bottom
set label 101 'throughput (GiB/s)' at @left
plot for [i = 1:2] for [m = 1:2] data using 'passes':(y(closed, i, m)) \
         with lines linecolor rgb colours[i] dashtype dashes[m] linewidth 1.2 title series(i).when_name(m), \
     for [i = 1:2] for [m = 1:2] data using 'passes':(y(simulator, i, m)) \
         with points pointtype shapes[m] pointsize ring linewidth 0.8 linecolor rgb colours[i] notitle, \
     for [i = 1:2] for [m = 1:2] data using 'passes':(y(published, i, m)) \
         with points linestyle 2 linecolor rgb colours[i] notitle, \
     for [i = 1:2] for [m = 1:2] data using 'passes':(y(published, i, m)) \
         with points linestyle 1 notitle, \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with points linestyle 1 title 'published'
