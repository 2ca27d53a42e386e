# SPDX-License-Identifier: GPL-3.0-or-later
# Performance against the buffer (Fig. 8, right).
height = 2.0
rows = 2
load 'style.gp'

series(i) = word('"SlipStream" "H3"', i)
metric = 'performance'
array colours[2] = [blue, vermillion]
y(source, i) = when(source, series(i), mean(column(metric)))
low(i) = when(closed, series(i), mean(column(metric.'_lo')))
high(i) = when(closed, series(i), mean(column(metric.'_hi')))

set logscale x 2
set xrange [3.6:570]
set xtics (4, 8, 16, 32, 64, 128, 256, 512)
set yrange [0:1.2]
set ytics 0.2
set label 102 'staging buffer (MB)' at @bottom
set label 101 'performance, share of ideal' at @left
plot for [i = 1:2] data using (column('buffer_bytes')/1e6):(low(i)):(high(i)) \
         with filledcurves fillcolor rgb colours[i] fillstyle transparent solid band noborder notitle, \
     for [i = 1:2] data using (column('buffer_bytes')/1e6):(y(closed, i)) \
         with lines linecolor rgb colours[i] linewidth 1.2 title series(i), \
     for [k = 2:1:-1] for [i = 1:2] data using (column('buffer_bytes')/1e6):(y(published, i)) \
         with points linestyle k notitle, \
     for [i = 1:2] data using (column('buffer_bytes')/1e6):(y(simulator, i)) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb colours[i] notitle, \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with points linestyle 1 title 'published'
