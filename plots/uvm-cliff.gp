# SPDX-License-Identifier: GPL-3.0-or-later
# A sort that grows past the memory of the GPU, under each policy (Fig. 1).
height = 2.2
rows = 3
load 'style.gp'

series(i) = word('"UVM" "prefetch" "mapped" "Ember static" "Ember adaptive" "fitted UVM"', i)
array colours[6] = [vermillion, orange, grey, blue, green, vermillion]
array dashes[6] = [1, 1, 1, 1, 1, 2]
gib = "(column('footprint_bytes')/2**30)"
y(source, i) = when(source, series(i), column('time_s'))
low(i) = when(closed, series(i), column('time_s_lo'))
high(i) = when(closed, series(i), column('time_s_hi'))

stats data using (when(closed, 'UVM', column('usable_bytes')/2**30)) name 'usable' nooutput
set logscale y
set format y '%g'
set xrange [7:25]
set xtics 8, 4
set yrange [0.5:2000]
set label 102 'footprint (GiB)' at @bottom
set label 101 'time (s)' at @left
set arrow from usable_max, graph 0 to usable_max, graph 1 nohead linewidth 0.6 dashtype 2 linecolor rgb black back
set label 'usable memory' at usable_max - 0.2, graph 0.94 right font small
plot for [i = 1:5] data using (@gib):(low(i)):(high(i)) \
         with filledcurves fillcolor rgb colours[i] fillstyle transparent solid band noborder notitle, \
     for [i = 1:6] data using (@gib):(y(closed, i)) \
         with lines linecolor rgb colours[i] dashtype dashes[i] linewidth 1.2 title series(i), \
     for [i = 1:5] data using (@gib):(y(simulator, i)) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb colours[i] notitle, \
     for [i = 1:6] data using (@gib):(y(published, i)) \
         with points linestyle 2 linecolor rgb colours[i] notitle, \
     for [i = 1:6] data using (@gib):(y(published, i)) \
         with points linestyle 1 notitle, \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with points linestyle 1 title 'published'
