# SPDX-License-Identifier: GPL-3.0-or-later
# Where the time goes, model by model (Fig. 9).  Bars from left to right: H3 in address
# and in demand order, SlipStream with 40 and with 16 MB.
height = 2.1
rows = 3
load 'style.gp'

# Stalls stand at the bottom, where their height can be read off.
stall(i) = word('capacity_stall_share order_stall_share access_stall_share stall_free_share', i)
stall_name(i) = word('"capacity stall" "order stall" "access stall" "stall-free"', i)
array colours[4] = [purple, vermillion, sky, pale]
series(i) = word('"H3 40 MB" "H3 40 MB in demand order" "SlipStream 40 MB" "SlipStream 16 MB"', i)
bar = 0.21
at(s) = column('position') + (s - 2.5)*bar
level(i) = 100*(i < 1 ? 0 : sum [j = 1:i] column(stall(j)))
# A published range is of one kind of stall, the lowest that is there.
low(i) = 100*column(stall(i).'_lo')
high(i) = 100*column(stall(i).'_hi')

set yrange [0:100]
set ytics 20
set xrange [0.45:7.55]
set label 101 'share of the time (%)' at @left
plot for [i = 4:1:-1] for [s = 1:4] data using (at(s)):(when(simulator, series(s), level(i))):(0.9*bar) \
         with boxes linecolor rgb colours[i] title s == 1 ? stall_name(i) : '', \
     for [i = 1:3] for [s = 1:4] data using (at(s) - 0.45*bar):(column(stall(i)) > 0.005 ? when(closed, series(s), level(i)) : NaN):(0.9*bar):(0) \
         with vectors arrowstyle 1 notitle, \
     for [i = 1:3] for [s = 1:4] data using (at(s)):(when(published, series(s), low(i))):(0):(high(i) - low(i)) \
         with vectors heads size screen 0.008, 90 linewidth 0.8 linecolor rgb black notitle, \
     data using 'position':(0):xtic(short(strcol('group'))) with points pointtype -1 notitle, \
     for [i = 1:2] keyentry with boxes linecolor rgb '#ffffff' title ' ', \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1 title 'closed form', \
     keyentry with yerrorbars pointtype -1 linewidth 0.8 linecolor rgb black title 'published range'
