# SPDX-License-Identifier: GPL-3.0-or-later
# What H3 waits for, in address and in demand order (Fig. 2c).
height = 2.1
rows = 3
load 'style.gp'

stall(i) = word('stall_free_share access_stall_share order_stall_share capacity_stall_share', i)
stall_name(i) = word('"stall-free" "access stall" "order stall" "capacity stall"', i)
array colours[4] = [pale, sky, vermillion, purple]

series(i) = word('"address order" "demand order"', i)
bar = 0.62
at(s) = 2.4*(s - 1) + column('position')
# Top of part i of the stack, from the bottom up.
level(i) = column('slowdown')*(i < 1 ? 0 : sum [j = 1:i] column(stall(j)))

set yrange [0:12.5]
set ytics 2
set xrange [0.4:5]
set bmargin at screen 0.40/height
set for [s = 1:2] label series(s) at 2.4*(s - 1) + 1.5, screen 0.09/height center
set arrow from 0.4, 1 to 5, 1 nohead linewidth 0.6 dashtype 2 linecolor rgb black back
set label 101 'time, over ideal' at @left
plot for [i = 4:1:-1] for [s = 1:2] data using (at(s)):(when(simulator, series(s), level(i))):(bar) \
         with boxes linecolor rgb colours[i] title s == 1 ? stall_name(i) : '', \
     for [i = 1:4] for [s = 1:2] data using (at(s) - 0.5*bar):(when(closed, series(s), level(i))):(bar):(0) \
         with vectors arrowstyle 1 notitle, \
     for [s = 1:2] data using (at(s)):(when(closed, series(s), column('slowdown_lo'))):(0):(column('slowdown_hi') - column('slowdown_lo')) \
         with vectors arrowstyle 2 notitle, \
     for [k = 2:1:-1] for [s = 1:2] data using (at(s)):(when(published, series(s), column('slowdown'))) \
         with points linestyle k notitle, \
     for [s = 1:2] data using (at(s)):(0):xtic(short(strcol('group'))) \
         with points pointtype -1 notitle, \
     for [i = 1:2] keyentry with boxes linecolor rgb '#ffffff' title ' ', \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
