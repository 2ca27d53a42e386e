# SPDX-License-Identifier: GPL-3.0-or-later
# Share of the flash bandwidth that each policy sustains (Fig. 10).
height = 2.1
rows = 3
load 'style.gp'

series(i) = word('"on demand" "H3 40 MB" "SlipStream 16 MB" "SlipStream 40 MB"', i)
array colours[4] = [grey, yellow, sky, blue]
bar = 0.2
at(i) = column('position') + (i - 2.5)*bar
y(source, i) = when(source, series(i), 100*column('hbf_utilisation'))
low(source, i) = when(source, series(i), 100*column('hbf_utilisation_lo'))
high(source, i) = when(source, series(i), 100*column('hbf_utilisation_hi'))
ideal = "(when(simulator, 'ideal', 100*column('hbf_utilisation')))"
# What is published is a range over all models; it stands beside our own.
range(i) = 8.2 + (i - 2.5)*bar
array least[4]
array most[4]
do for [i = 1:4] {
    stats data using (y(simulator, i)) nooutput
    least[i] = STATS_min
    most[i] = STATS_max
}

set yrange [0:100]
set ytics 20
set xrange [0.45:8.75]
set arrow from 7.65, 0 to 7.65, 100 nohead linewidth 0.4 linecolor rgb grey back
set label 101 'flash bandwidth used (%)' at @left
plot for [i = 1:4] data using (at(i)):(y(simulator, i)):(0.92*bar) \
         with boxes linecolor rgb colours[i] title series(i), \
     for [i = 1:4] '+' using (range(i)):(most[i]):(range(i) - 0.46*bar):(range(i) + 0.46*bar):(least[i]):(most[i]) every ::0::0 \
         with boxxyerror linecolor rgb colours[i] notitle, \
     for [i = 1:4] data using (at(i)):(low(closed, i)):(0):(high(closed, i) - low(closed, i)) \
         with vectors arrowstyle 2 notitle, \
     for [i = 1:4] data using (at(i) - 0.46*bar):(y(closed, i)):(0.92*bar):(0) \
         with vectors arrowstyle 1 notitle, \
     data using (column('position') - 2*bar):(@ideal):(4*bar):(0) \
         with vectors nohead linewidth 1.2 linecolor rgb green notitle, \
     for [i = 1:4] data using (column('position') == 1 ? range(i) : NaN):(low(published, i)):(0):(high(published, i) - low(published, i)) \
         with vectors heads size screen 0.008, 90 linewidth 0.8 linecolor rgb black notitle, \
     data using 'position':(0):xtic(short(strcol('group'))) with points pointtype -1 notitle, \
     '+' using (8.2):(0):xtic('range') every ::0::0 with points pointtype -1 notitle, \
     keyentry with lines linewidth 1.2 linecolor rgb green title 'ideal', \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'simulator', \
     keyentry with lines linecolor rgb black linewidth 1 title 'closed form', \
     keyentry with yerrorbars pointtype -1 linewidth 0.8 linecolor rgb black title 'published range'
