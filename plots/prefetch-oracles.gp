# SPDX-License-Identifier: GPL-3.0-or-later
# IPC over Snake alone of each mechanism and of the oracle in its place (Fig. 26): means,
# and in small the kernels.
height = 2.2
rows = 2
load 'style.gp'

names = 'SK+ZF O-ZF SK+SCC O-TIME SK+PRT O-PLACE SK+SC O-SC O-L1'
array places[9] = [1, 2, 3.4, 4.4, 5.8, 6.8, 8.2, 9.2, 10.2]
is_oracle(i) = word(names, i)[1:1] eq 'O'
bar = 0.7
least = 1
most = 1000 # an oracle of L1 is far above the others
gain = "(100*(column('front_end_speedup') - 1))"
y(source, i) = when(source, word(names, i), mean(@gain))
one(i) = when(simulator, word(names, i), a_mean(strcol('group')) ? NaN : @gain > least ? @gain : least)

set logscale y
set yrange [least:most]
set ytics ('≤1' 1, '10' 10, '100' 100, '1000' 1000)
set xrange [0.4:10.8]
set xtics (word(names, 1) 1) rotate by 90 right font tiny offset 0, 0.1 scale 0
set for [i = 2:9] xtics add (word(names, i) places[i])
set bmargin at screen 0.58/height
set label 101 'IPC over SK (%)' at @left
plot for [i = 1:9] data using (places[i]):(y(simulator, i)):(bar) \
         with boxes linecolor rgb (is_oracle(i) ? orange : blue) notitle, \
     for [i = 1:9] data using (places[i] + 0.42):(one(i)) \
         with points pointtype 7 pointsize 0.35*ring linecolor rgb grey notitle, \
     for [i = 1:9] data using (places[i] - 0.5*bar):(y(closed, i)):(bar):(0) \
         with vectors nohead linewidth 1.2 linecolor rgb black notitle, \
     for [j = 2:1:-1] for [i = 1:9] data using (places[i]):(y(published, i)) \
         with points linestyle j notitle, \
     keyentry with boxes linecolor rgb blue title 'mechanism', \
     keyentry with boxes linecolor rgb orange title 'oracle', \
     keyentry with points pointtype 7 pointsize 0.35*ring linecolor rgb grey title 'kernels', \
     keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
