# SPDX-License-Identifier: GPL-3.0-or-later
# How long SlipStream needs a page and how long it keeps it, at 16 MB (Fig. 11).
height = 1.9
rows = 2
load 'style.gp'

metric(i) = word('residency_s useful_lifetime_s', i)
name(i) = word('"kept: arrival to eviction" "needed: arrival to last use"', i)
array colours[2] = [vermillion, blue]
y(source, i) = when(source, 'SlipStream 16 MB', 1e6*column(metric(i)))

set logscale y
set yrange [1:60]
set ytics (1, 2, 5, 10, 20, 50)
set xrange [0.5:7.5]
set label 101 'time in the buffer (µs)' at @left
plot data using 'position':(y(simulator, 2)):(0):(y(simulator, 1) - y(simulator, 2)) \
         with vectors nohead linewidth 3 linecolor rgb pale notitle, \
     for [i = 1:2] data using 'position':(y(simulator, i)) \
         with points pointtype 6 pointsize 1.2*ring linewidth 0.9 linecolor rgb colours[i] notitle, \
     for [i = 1:2] data using (column('position') - 0.22):(y(closed, i)):(0.44):(0) \
         with vectors nohead linewidth 1.2 linecolor rgb colours[i] notitle, \
     data using 'position':(1):xtic(short(strcol('group'))) with points pointtype -1 notitle, \
     for [i = 1:2] keyentry with lines linewidth 2 linecolor rgb colours[i] title name(i), \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form'
