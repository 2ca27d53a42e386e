# SPDX-License-Identifier: GPL-3.0-or-later
# Generation by language models at 0.56 and 1.41 of the memory (Fig. 13).
height = 2.1
rows = 3
load 'style.gp'

policy(i) = word('UVM prefetch mapped static adaptive', i)
name(i) = word('"UVM" "prefetch" "mapped" "Ember static" "Ember adaptive"', i)
gpus(g) = word('rtx-5080 a40 h200', g)
gpu_name(g) = word('"5080" "A40" "H200"', g)
array colours[5] = [vermillion, orange, grey, blue, green]
bar = 0.16
place(g) = g + 3.4*(column('position') - 1)
at(g, i) = place(g) + (i - 3)*bar
y(source, g, i, end) = when(source, policy(i).' '.gpus(g), column('tokens_per_s'.end))

set logscale y
set format y '%g'
set yrange [0.1:500]
set xrange [0.5:6.9]
set bmargin at screen 0.40/height
set label '14B, fits' at 2, screen 0.08/height center
set label '32B, does not' at 5.4, screen 0.08/height center
set label 101 'tokens per second' at @left
plot for [i = 1:5] for [g = 1:3] data using (at(g, i)):(y(simulator, g, i, '')):(0.92*bar) \
         with boxes linecolor rgb colours[i] title g == 1 ? name(i) : '', \
     for [i = 1:5] for [g = 1:3] data using (at(g, i)):(y(closed, g, i, '_lo')):(0):(y(closed, g, i, '_hi') - y(closed, g, i, '_lo')) \
         with vectors arrowstyle 2 notitle, \
     for [i = 1:5] for [g = 1:3] data using (at(g, i) - 0.46*bar):(y(closed, g, i, '')):(0.92*bar):(0) \
         with vectors arrowstyle 1 notitle, \
     for [k = 2:1:-1] for [i = 1:5] for [g = 1:3] data using (at(g, i)):(y(published, g, i, '')) \
         with points linestyle k notitle, \
     for [g = 1:3] data using (place(g)):(0.1):xtic(gpu_name(g)) with points pointtype -1 notitle, \
     keyentry with boxes linecolor rgb '#ffffff' title ' ', \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
