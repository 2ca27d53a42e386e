# SPDX-License-Identifier: GPL-3.0-or-later
# IPC of each back end over its front end alone (Fig. 13): means, and in small the kernels.
height = 2.2
rows = 2
load 'style.gp'

names = 'SK+ZF SK+SCC SK+PRT SK+ZF+SCC SK+SCC+PRT SK+PRT+ZF SK+SC APG+SC'
bar = 0.6
gain = "(100*(column('front_end_speedup') - 1))"
y(source, i) = when(source, word(names, i), mean(@gain))
one(i) = when(simulator, word(names, i), a_mean(strcol('group')) ? NaN : @gain)

set yrange [-5:*]
set ytics 5
set xrange [0.4:8.6]
set xtics (word(names, 1) 1) rotate by 90 right font tiny offset 0, 0.1 scale 0
set for [i = 2:8] xtics add (word(names, i) i)
set xzeroaxis linetype 1 linewidth 0.6 linecolor rgb '#404040'
set bmargin at screen 0.68/height
set label 101 'IPC over front end (%)' at @left
plot for [i = 1:8] data using (i):(y(simulator, i)):(bar) \
         with boxes linecolor rgb blue notitle, \
     for [i = 1:8] data using (i + 0.38):(one(i)) \
         with points pointtype 7 pointsize 0.35*ring linecolor rgb grey notitle, \
     for [i = 1:8] data using (i - 0.5*bar):(y(closed, i)):(bar):(0) \
         with vectors nohead linewidth 1.2 linecolor rgb black notitle, \
     for [j = 2:1:-1] for [i = 1:8] data using (i):(y(published, i)) \
         with points linestyle j notitle, \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator, mean', \
     keyentry with points pointtype 7 pointsize 0.35*ring linecolor rgb grey title 'its kernels', \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
