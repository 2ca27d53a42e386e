# SPDX-License-Identifier: GPL-3.0-or-later
# When prefetches that demand wants come, kernel by kernel: Snake alone (Fig. 4) and
# behind SnakeCharmer (Fig. 15).  Published are the means.
height = 3.3
rows = 2
load 'style.gp'

series(k) = word('SK SK+SC', k)
share(i) = word('on_time_share late_share early_share', i)
share_name(i) = word('"on time" "late" "early"', i)
array colours[3] = [blue, orange, purple]
bar = 0.78
level(i) = 100*(sum [j = 1:i] column(share(j)))

set yrange [0:100]
set ytics 25
set xrange [0.4:15.6]
set xtics rotate by 90 right font tiny offset 0, 0.1 scale 0
array tops[2] = [1 - 0.36/height, 1 - 1.58/height]
array bottoms[2] = [1 - 1.40/height, 0.60/height]
name(k) = k == 2 ? strcol('group') : ''
set label 101 'share of wanted prefetches (%)' at screen 0.075/width, screen 0.5*(tops[1] + bottoms[2]) center rotate by 90
set multiplot
do for [k = 1:2] {
    set tmargin at screen tops[k]
    set bmargin at screen bottoms[k]
    set label 24 series(k) at graph 0.5, graph 1.07 center font small
    plot for [i = 3:1:-1] data using 'position':(when(simulator, series(k), level(i))):(bar) \
             with boxes linecolor rgb colours[i] title k == 1 ? share_name(i) : '', \
         for [i = 1:2] data using (column('position') - 0.5*bar):(when(closed, series(k), level(i))):(bar):(0) \
             with vectors nohead linewidth (3.6 - 1.2*i) linecolor rgb '#ffffff' notitle, \
         for [i = 1:2] data using (column('position') - 0.5*bar):(when(closed, series(k), level(i))):(bar):(0) \
             with vectors nohead linewidth (i == 1 ? 1.2 : 0.7) linecolor rgb black notitle, \
         for [i = 1:2] for [j = 2:1:-1] data using 'position':(when(published, series(k), level(i))) \
             with points linestyle j notitle, \
         data using 'position':(0):xtic(name(k)) with points pointtype -1 notitle, \
         keyentry with boxes fillstyle solid border linecolor rgb black \
             fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
         keyentry with lines linecolor rgb black linewidth 1.2 title 'closed form', \
         keyentry with points linestyle 1 title 'published'
    unset key
    unset label 101
}
unset multiplot
