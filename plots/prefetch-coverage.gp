# SPDX-License-Identifier: GPL-3.0-or-later
# Coverage and accuracy of each back end (Fig. 12): means, and in small the kernels.
height = 3.1
rows = 2
load 'style.gp'

names = 'SK SK+ZF SK+SCC SK+PRT SK+ZF+SCC SK+SCC+PRT SK+PRT+ZF SK+SC APG APG+SC'
metric(k) = word('coverage accuracy', k)
array colours[2] = [green, blue]
bar = 0.6
y(source, i, k) = when(source, word(names, i), mean(100*column(metric(k))))
one(i, k) = when(simulator, word(names, i), a_mean(strcol('group')) ? NaN : 100*column(metric(k)))

set xrange [0.4:10.6]
array tops[2] = [1 - 0.36/height, 1 - 1.46/height]
array bottoms[2] = [1 - 1.36/height, 0.66/height]
array most[2] = [50, 100]
set multiplot
do for [k = 1:2] {
    set tmargin at screen tops[k]
    set bmargin at screen bottoms[k]
    set yrange [0:most[k]]
    set ytics most[k]/5
    set xtics (k == 2 ? word(names, 1) : '' 1) rotate by 90 right font tiny offset 0, 0.1 scale 0
    set for [i = 2:10] xtics add (k == 2 ? word(names, i) : '' i)
    set label 101 metric(k).' (%)' at @left
    plot for [i = 1:10] data using (i):(y(simulator, i, k)):(bar) \
             with boxes linecolor rgb colours[k] notitle, \
         for [i = 1:10] data using (i + 0.38):(one(i, k)) \
             with points pointtype 7 pointsize 0.35*ring linecolor rgb grey notitle, \
         for [i = 1:10] data using (i - 0.5*bar):(y(closed, i, k)):(bar):(0) \
             with vectors nohead linewidth 1.2 linecolor rgb black notitle, \
         for [j = 2:1:-1] for [i = 1:10] data using (i):(y(published, i, k)) \
             with points linestyle j notitle, \
         keyentry with boxes fillstyle solid border linecolor rgb black \
             fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator, mean', \
         keyentry with points pointtype 7 pointsize 0.35*ring linecolor rgb grey title 'its kernels', \
         keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
         keyentry with points linestyle 1 title 'published'
    unset key
}
unset multiplot
