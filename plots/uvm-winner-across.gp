# SPDX-License-Identifier: GPL-3.0-or-later
# Static placement against adaptive, by randomness and reuse across passes (Fig. 16).
height = 1.75
rows = 1
load 'style.gp'

# Twice the time of the other is one step: the logarithm of the ratio to base 2.
steps = "(log(column('time_s'))/log(2))"
shares = '0% 10% 25% 50% 75% 100%'
place = "(sum [i = 1:words(shares)] (word(shares, i) eq strcol('series') ? i : 0))"
reuse = "(log(column('passes')/32)/log(2))"
of(source, value) = strcol('source') eq source ? value : NaN

set border 0
unset grid
set palette defined (-2 blue, 0 '#ffffff', 2 vermillion)
set cbrange [-2:2]
set colorbox user origin screen 2.72/width, screen 0.36/height size screen 0.1/width, screen (height - 0.56)/height
set cbtics ('static 4x' -2, 'static 2x' -1, 'equal' 0, 'adaptive 2x' 1, 'adaptive 4x' 2) font tiny offset -0.8, 0 scale 0
set rmargin at screen 2.62/width
set lmargin at screen 0.5/width
set key at screen 0.42
set xrange [0.5:6.5]
set yrange [-0.5:5.5]
set xtics scale 0
set for [i = 1:6] xtics add (word(shares, i)[1:strlen(word(shares, i)) - 1] i)
set ytics scale 0 ('32' 0, '64' 1, '128' 2, '256' 3, '512' 4, '1024' 5)
set label 102 'randomly accessed (%)' at @bottom
set label 101 'accesses to a page' at @left
plot data using (@place):(@reuse):(@place - 0.48):(@place + 0.48):(@reuse - 0.47):(@reuse + 0.47):(of(closed, @steps)) \
         with boxxyerror fillcolor palette fillstyle solid noborder notitle, \
     data using (@place):(of(simulator, @reuse)):(@steps) \
         with points pointtype 7 pointsize 1.7*ring linecolor palette notitle, \
     data using (@place):(of(simulator, @reuse)) \
         with points pointtype 6 pointsize 1.7*ring linewidth 0.7 linecolor rgb black notitle, \
     data using (@place + 0.26):(of(published, @reuse)):(@steps) \
         with points pointtype 13 pointsize 1.7*mark linecolor palette notitle, \
     data using (@place + 0.26):(of(published, @reuse)) \
         with points pointtype 12 pointsize 1.7*mark linewidth 0.9 linecolor rgb black notitle, \
     keyentry with boxes fillstyle solid border linecolor rgb black fillcolor rgb '#ffffff' linewidth 0.4 title 'closed form', \
     keyentry with points pointtype 6 pointsize 1.3*ring linewidth 0.7 linecolor rgb black title 'simulator', \
     keyentry with points pointtype 12 pointsize 1.5*mark linewidth 0.9 linecolor rgb black title 'published'
