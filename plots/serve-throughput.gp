# SPDX-License-Identifier: GPL-3.0-or-later
# Serving with weights in flash over serving from HBM alone (Fig. 15).  There is no
# simulator of it: the bars are the closed form.
height = 2.0
rows = 2
load 'style.gp'

series(i) = word('"SlipStream" "H3 in demand order" "H3"', i)
array colours[3] = [blue, orange, yellow]
metric(m) = word('tokens_per_s energy_per_token_j edp_js', m)
bar = 0.27
# The groups side by side, in each the three metrics.
at(i, m) = 3.6*(column('position') - 1) + m + (i - 2)*bar
y(source, i, m) = when(source, series(i), column(metric(m)))

set logscale y 2
set yrange [0.18:11]
set ytics ('1/4' 0.25, '1/2' 0.5, '1' 1, '2' 2, '4' 4, '8' 8)
set xrange [0.4:7.2]
set xtics ("through-\nput" 1, "energy/\ntoken" 2, 'EDP' 3, \
           "through-\nput" 4.6, "energy/\ntoken" 5.6, 'EDP' 6.6)
set bmargin at screen 0.50/height
set label 101 'over HBM only' at @left
set label 1 'Llama 70B, 4 GPUs' at first 2, screen 0.09/height center font small
set label 2 'Llama 405B, 16 GPUs' at first 5.6, screen 0.09/height center font small
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb black linewidth 0.5 back
plot for [i = 1:3] for [m = 1:3] data \
         using (at(i, m)):(1):(at(i, m) - 0.46*bar):(at(i, m) + 0.46*bar):(1):(y(closed, i, m)) \
         with boxxyerror linecolor rgb colours[i] notitle, \
     for [i = 1:3] keyentry with boxes linecolor rgb colours[i] title series(i), \
     for [k = 2:1:-1] for [i = 1:3] for [m = 1:3] data using (at(i, m)):(y(published, i, m)) \
         with points linestyle k notitle, \
     keyentry with boxes fillstyle solid border linecolor rgb black \
         fillcolor rgb '#ffffff' linewidth 0.4 title 'closed form', \
     keyentry with points linestyle 1 title 'published'
