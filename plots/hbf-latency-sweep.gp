# SPDX-License-Identifier: GPL-3.0-or-later
# Performance of SlipStream at 5, 10 and 20 us, model by model (Fig. 13).
height = 2.0
rows = 2
load 'style.gp'

series(i) = word('"SlipStream 40 MB" "SlipStream 16 MB"', i)
array colours[2] = [blue, sky]
bar = 0.38
block = "(log(column('latency_s')/5e-6)/log(2))"
place = "(9.2*@block + column('position'))"
at(i) = @place + (i - 1.5)*bar
y(source, i) = when(source, series(i), column('performance'))
low(i) = when(closed, series(i), column('performance_lo'))
high(i) = when(closed, series(i), column('performance_hi'))

set yrange [0:1.55]
set ytics 0, 0.2, 1.2
set xrange [0.3:27.1]
set xtics rotate by 90 right font tiny offset 0, 0.1
set bmargin at screen 0.36/height
set for [b = 0:2] label sprintf('%d µs', 5*2**b) at 9.2*b + 4.5, 1.47 center
set label 101 'performance, share of ideal' at @left
plot for [i = 1:2] data using (at(i)):(y(simulator, i)):(0.92*bar) \
         with boxes linecolor rgb colours[i] title series(i), \
     for [i = 1:2] data using (at(i)):(low(i)):(0):(high(i) - low(i)) \
         with vectors arrowstyle 2 notitle, \
     for [i = 1:2] data using (at(i) - 0.46*bar):(y(closed, i)):(0.92*bar):(0) \
         with vectors arrowstyle 1 notitle, \
     for [k = 2:1:-1] for [i = 1:2] data using (at(i)):(y(published, i)) \
         with points linestyle k notitle, \
     data using (@place):(0):xtic(short(strcol('group'))) with points pointtype -1 notitle, \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
