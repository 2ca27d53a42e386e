# SPDX-License-Identifier: GPL-3.0-or-later
# Slowdown of H3 against its buffer (Fig. 2d).
height = 2.0
rows = 2
load 'style.gp'

series(i) = word('"H3" "H3 in demand order"', i)
metric = 'slowdown'
array colours[2] = [vermillion, orange]
y(source, i) = when(source, series(i), mean(column(metric)))
low(i) = when(closed, series(i), mean(column(metric.'_lo')))
high(i) = when(closed, series(i), mean(column(metric.'_hi')))

set logscale x 2
set xrange [37:345]
set xtics (40, 80, 160, 320)
set yrange [0:12]
set ytics 2
set label 102 'staging buffer (MB)' at @bottom
set label 101 'slowdown, over ideal' at @left
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
