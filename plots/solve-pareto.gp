# SPDX-License-Identifier: GPL-3.0-or-later
# Pairs of two keys that meet conditions, and the cheapest (stallcast solve --plot).
height = 2.0
rows = 2
load 'style.gp'

x_axis = ''
y_axis = ''
stats data using (x_axis = strcol('x_axis'), y_axis = strcol('y_axis'), column('x')) name 'X' nooutput
stats data using (column('y')) name 'Y' nooutput
stats data using (column('series')) name 'S' nooutput
last = int(S_max)
array name[last + 1]
do for [i = 0:last] {
    one = ''
    stats data using (one = int(column('series')) == i ? strcol('name') : one, column('x')) nooutput
    name[i + 1] = one
}

set format x '%g'
set format y '%g'
# Within two decades 1, 2 and 5 are numbers of their own.
x_log = X_min > 0 && X_max > 8*X_min
y_log = Y_min > 0 && Y_max > 8*Y_min
if (x_log) { set logscale x; set xrange [X_min/1.2:X_max*1.2] }
if (y_log) { set logscale y; set yrange [Y_min/1.2:Y_max*1.2] }
if (x_log && X_max < 100*X_min) {
    set xtics ()
    do for [e = floor(log10(X_min)):ceil(log10(X_max))] {
        do for [m in '1 2 5'] { set xtics add (sprintf('%g', m*10.**e) m*10.**e) }
    }
}
if (y_log && Y_max < 100*Y_min) {
    set ytics ()
    do for [e = floor(log10(Y_min)):ceil(log10(Y_max))] {
        do for [m in '1 2 5'] { set ytics add (sprintf('%g', m*10.**e) m*10.**e) }
    }
}
set lmargin at screen 0.155
set offsets graph 0.03, graph 0.03, graph 0.08, graph 0.08
array colours[6] = [blue, vermillion, green, purple, orange, sky]
of(i, value) = int(column('series')) == i ? value : NaN
at(i, place, value) = strcol('place') eq place ? of(i, value) : NaN
placed(i, value) = strcol('place') ne 'behind' ? of(i, value) : NaN
set label 102 x_axis noenhanced at @bottom
set label 101 y_axis noenhanced at @left
plot for [i = 0:last] data using (column('x')):(of(i, column('y'))) \
         with lines linecolor rgb colours[i + 1] linewidth 1.2 \
         title name[i + 1] noenhanced, \
     for [i = 0:last] data using (column('x')):(placed(i, column('y'))) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb colours[i + 1] notitle, \
     for [i = 0:last] data using (column('x')):(at(i, 'best', column('y'))) \
         with points linestyle 1 notitle, \
     for [i = 0:last] data using (column('x')):(at(i, 'best', column('y'))):(strcol('cost')) \
         with labels left offset 0.6, 0.5 noenhanced font small notitle, \
     keyentry with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb black title 'front', \
     keyentry with points linestyle 1 title 'best, with its cost'
