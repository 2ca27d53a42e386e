# SPDX-License-Identifier: GPL-3.0-or-later
# Data read in order and at random, on either side of the memory line (Figs. 3 and 5).
height = 2.3
rows = 3
load 'style.gp'

x = "(column('oversubscription'))"
y(source, series, metric) = when(source, series, column(metric))
low(series, metric) = when(closed, series, column(metric.'_lo'))
high(series, metric) = when(closed, series, column(metric.'_hi'))
# Left: slowdowns.  Right: ratios.
left_series(i) = word('"sequential UVM" "random UVM" "random prefetch" "random mapped"', i)
array left_colours[4] = [blue, vermillion, orange, grey]
ratio_series(i) = i < 4 ? 'random over sequential' : 'prefetch over UVM'
ratio_metric(i) = word('time_s out_bytes faults out_bytes', i)
ratio_name(i) = word('"time" "bytes evicted" "faults" "evicted, prefetch/UVM"', i)
array right_colours[4] = [black, purple, sky, green]

set logscale y
set format y '%g'
set xrange [0.4:2.1]
set xtics 0.5
set multiplot
set rmargin at screen 1.72/width
set yrange [1:300]
set label 102 'footprint / memory' at graph 1.15, screen 0.06/height center
set label 101 'slowdown' at @left
set key at screen 0.53, screen 1 - 0.03/height maxrows 3
plot for [i = 1:4] data using (@x):(low(left_series(i), 'slowdown')):(high(left_series(i), 'slowdown')) \
         with filledcurves fillcolor rgb left_colours[i] fillstyle transparent solid band noborder notitle, \
     for [i = 1:4] data using (@x):(y(closed, left_series(i), 'slowdown')) \
         with lines linecolor rgb left_colours[i] linewidth 1.2 title left_series(i), \
     for [i = 1:4] data using (@x):(y(simulator, left_series(i), 'slowdown')) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb left_colours[i] notitle, \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with points linestyle 1 title 'published'
unset label 102
set lmargin at screen 2.16/width
set rmargin at screen 1 - 0.06/width
set yrange [0.001:200]
set label 101 'random / sequential' at screen 1.82/width, graph 0.5 center rotate by 90
unset key
do for [i = 1:4] {
    set label 200 + i ratio_name(i) at graph 0.98, graph (0.31 - 0.08*(i - 1)) right font small textcolor rgb right_colours[i]
}
plot for [i = 1:4] data using (@x):(low(ratio_series(i), ratio_metric(i))):(high(ratio_series(i), ratio_metric(i))) \
         with filledcurves fillcolor rgb right_colours[i] fillstyle transparent solid band noborder notitle, \
     for [i = 1:4] data using (@x):(y(closed, ratio_series(i), ratio_metric(i))) \
         with lines linecolor rgb right_colours[i] linewidth 1.2 notitle, \
     for [i = 1:4] data using (@x):(y(simulator, ratio_series(i), ratio_metric(i))) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb right_colours[i] notitle, \
     for [i = 1:4] data using (@x):(y(published, ratio_series(i), ratio_metric(i))) \
         with points linestyle 2 linecolor rgb right_colours[i] notitle, \
     for [i = 1:4] data using (@x):(y(published, ratio_series(i), ratio_metric(i))) \
         with points linestyle 1 notitle
unset multiplot
