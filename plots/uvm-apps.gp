# SPDX-License-Identifier: GPL-3.0-or-later
# Speedup over UVM of six applications (Fig. 10), at half the memory and at 1.5 times.
height = 3.3
rows = 2
load 'style.gp'

gpus(g) = word('rtx-5080 a40 h200', g)
gpu_name(g) = word('"RTX 5080" "A40" "H200"', g)
part_name(k) = word('"footprint half of memory" "footprint 1.4 to 1.5 of memory"', k)
policy(i) = word('static adaptive', i)
array colours[2] = [blue, orange]
app(p) = word('"pathfinder" "k-means" "CNN" "bitonic" "radix" "BFS" "mean"', p)
tick(k, p) = k == 2 ? app(p) : ''
block = 8
place(g) = (g - 1)*block + column('position')
at(g, i) = place(g) + (i - 1.5)*0.44
y(source, g, i, size, end) = when(source, policy(i).' '.gpus(g).' '.size, column('time_s'.end))

set xrange [0.3:3*block - 0.3]
set logscale y
set format y '%g'
set xtics rotate by 90 right font tiny offset 0, 0.1 scale 0
array sizes[2] = ['0.5x', '1.5x']
array tops[2] = [1 - 0.36/height, 1 - 1.58/height]
array bottoms[2] = [1 - 1.44/height, 0.52/height]
least(k) = k == 1 ? 0.5 : 0.04
most(k) = k == 1 ? 40 : 3000
do for [g = 1:2] {
    set arrow from g*block, screen bottoms[2] to g*block, screen tops[1] nohead linewidth 0.4 linecolor rgb grey back
}
set label 101 'speedup over UVM' at screen 0.075/width, screen 0.5*(tops[1] + bottoms[2]) center rotate by 90
set multiplot
do for [k = 1:2] {
    set tmargin at screen tops[k]
    set bmargin at screen bottoms[k]
    set yrange [least(k):most(k)]
    set arrow 9 from 0.3, 1 to 3*block - 0.3, 1 nohead linewidth 0.6 dashtype 2 linecolor rgb black back
    do for [g = 1:3] {
        set label (20 + g) gpu_name(k == 1 ? g : 4) at (g - 0.5)*block, graph 0.93 center font small
    }
    set label 24 part_name(k) at graph 0.01, graph (k == 1 ? 0.07 : 0.93) left font tiny
    set ytics (0.1, 1, 10, 100)
    plot for [i = 1:2] for [g = 1:3] data using (at(g, i)):(y(simulator, g, i, sizes[k], '')) \
             with points pointtype 6 pointsize 0.85*ring linewidth 0.8 linecolor rgb colours[i] notitle, \
         for [i = 1:2] for [g = 1:3] data using (at(g, i)):(y(closed, g, i, sizes[k], '_lo')):(0):(y(closed, g, i, sizes[k], '_hi') - y(closed, g, i, sizes[k], '_lo')) \
             with vectors nohead linewidth 0.5 linecolor rgb colours[i] notitle, \
         for [i = 1:2] for [g = 1:3] data using (at(g, i) - 0.2):(y(closed, g, i, sizes[k], '')):(0.4):(0) \
             with vectors nohead linewidth 1.3 linecolor rgb colours[i] notitle, \
         for [j = 2:1:-1] for [i = 1:2] for [g = 1:3] data using (at(g, i)):(y(published, g, i, sizes[k], '')) \
             with points linestyle j pointsize (j == 2 ? 1.4 : 0.9)*mark notitle, \
         for [i = 1:2] for [g = 1:3] data using (at(g, i)):(y(published, g, i, sizes[k], '_lo')) \
             with points pointtype 9 pointsize mark linecolor rgb black notitle, \
         for [g = 1:3] data using (place(g)):(least(k)):xtic(tick(k, int(column('position')))) \
             with points pointtype -1 notitle, \
         for [i = 1:2] keyentry with lines linewidth 2 linecolor rgb colours[i] title 'Ember '.policy(i), \
         keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'simulator', \
         keyentry with lines linecolor rgb black linewidth 1.3 title 'closed form', \
         keyentry with points linestyle 1 title 'published', \
         keyentry with points pointtype 9 pointsize mark linecolor rgb black title 'at least'
    unset key
    unset label 101
}
unset multiplot
