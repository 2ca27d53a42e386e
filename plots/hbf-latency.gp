# SPDX-License-Identifier: GPL-3.0-or-later
# Slowdown of fetching on demand against the flash latency (Fig. 2a).
height = 2.0
rows = 2
load 'style.gp'

us = "(1e6*column('latency_s'))"
y(source) = when(source, 'on demand', column('slowdown'))
is(p) = column('position') == p ? 1 : NaN
y_mean(source) = mean(y(source))
low = "(when(closed, 'on demand', mean(column('slowdown_lo'))))"
high = "(when(closed, 'on demand', mean(column('slowdown_hi'))))"
most = "(when(published, 'on demand', mean(column('slowdown_hi'))))"

set xrange [0:23]
set xtics 5
set yrange [0:15]
set ytics 3
set label 102 'flash latency (µs)' at @bottom
set label 101 'slowdown, over ideal' at @left
plot data using (@us):(@low):(@high) \
         with filledcurves fillcolor rgb blue fillstyle transparent solid band noborder notitle, \
     for [p = 1:7] data using (@us):(is(p)*y(closed)) \
         with lines linecolor rgb grey linewidth 0.5 title p == 1 ? 'each model' : '', \
     data using (@us):(y_mean(closed)) \
         with lines linecolor rgb blue linewidth 1.4 title 'geometric mean', \
     for [k = 2:1:-1] data using (@us):(y(published)) with points linestyle k notitle, \
     data using (@us):(y_mean(simulator)) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb blue notitle, \
     data using (@us - 0.25):(@most):(0.5):(0) \
         with vectors nohead linecolor rgb black linewidth 1.2 notitle, \
     data using (@us + 0.35):(y(published) + (strcol('group') eq 'geomean' ? -0.45 : 0.25)):(short(strcol('group'))) \
         with labels left notitle, \
     data using (@us + 0.35):(@most + 0.2):('max') with labels left notitle, \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with points linestyle 1 title 'published'
