# SPDX-License-Identifier: GPL-3.0-or-later
# Predicted against measured, of the user's rows (stallcast compare --plot).
data = 'data.csv'
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

# What all rows share, and the ends of both axes, intervals included.
axis = ''
in_points = 0
groups = 1
uncounted = 0
smallest(a, b) = a < b ? a : b
largest(a, b) = a > b ? a : b
low = "(valid(8) ? column('low') : column('predicted'))"
high = "(valid(9) ? column('high') : column('predicted'))"
array series[8]
do for [i = 1:8] { series[i] = '' }
stats data using (axis = strcol('axis'), in_points = int(column('points')), \
                  group = int(column('group')), groups = largest(groups, group), \
                  series[group] = strcol('series'), \
                  uncounted = uncounted + (column('counted') > 0 ? 0 : 1), column('measured')) \
      name 'X' nooutput
stats data using (smallest(@low, column('predicted'))) name 'L' nooutput
stats data using (largest(@high, column('predicted'))) name 'H' nooutput
least = smallest(X_min, L_min)
most = largest(X_max, H_max)

# A square below a legend of two columns, and beside numbers of more than three digits.
digits = most >= 1e5 ? 4 : strlen(sprintf('%d', most))
if (!in_points) { digits = largest(digits, strlen(sprintf('%g', 10.**floor(log10(least)))) - 1) }
wide = digits > 3 ? 0.065*(digits - 3) : 0
rows = ceil((1 + (uncounted > 0) + (series[1] ne '' ? groups : 1))/2.)
height = 3.4 - 0.42 - wide - 0.06 + 0.36 + 0.07 + 0.125*rows
load 'style.gp'
set lmargin at screen (0.42 + wide)/width
set key noenhanced # names are the user's

if (in_points) {
    least = smallest(0, least)
    most = most > least ? most + 0.04*(most - least) : least + 1
} else {
    # Room for a point at the end, and for one point alone.
    room = largest(1.06, (most/least)**0.04)
    least = least/room
    most = most*room
    set logscale xy
}
set xrange [least:most]
set yrange [least:most]
# Numbers on the axes: decades; 1, 2, 5 within them; or even steps within less than an octave or so.
decades = in_points ? 1 : log10(most/least)
step(width) = (k = 10.**floor(log10(width/6.)), m = width/6./k, k*(m > 5 ? 10 : m > 2 ? 5 : m > 1 ? 2 : 1))
set format xy '%g'
set xtics ()
set ytics ()
if (in_points || decades < 0.75) {
    d = step(most - least)
    first = ceil(least/d)
    last = floor(most/d)
    # Large ones without their power of ten, which the axes tell.
    thousands = most >= 1e5 ? 3*floor(log10(most)/3.) : 0
    if (thousands > 0) { axis = axis.sprintf(' (10^{%d})', thousands) }
    do for [i = first:last] {
        set xtics add (sprintf('%g', i*d/10.**thousands) i*d)
        set ytics add (sprintf('%g', i*d/10.**thousands) i*d)
    }
} else {
    every = decades > 6 ? ceil(decades/6.) : 1
    do for [e = floor(log10(least)):ceil(log10(most))] {
        do for [m = 1:(decades < 2.3 ? 3 : 1)] {
            at = 10.**e*(m == 1 ? 1 : m == 2 ? 2 : 5)
            if (at >= least && at <= most && (m > 1 || (e % every) == 0)) {
                power = at < 1e-4 || (most >= 1e5 && at >= 1e4)
                name = power ? sprintf('10^{%d}', e) : sprintf('%g', at)
                if (m > 1 && power) { name = sprintf('%d{/Symbol \327}10^{%d}', m == 2 ? 2 : 5, e) }
                set xtics add (name at)
                set ytics add (name at)
            }
        }
    }
}
set grid xtics ytics linetype 1 linewidth 0.3 linecolor rgb '#d8d8d8'
set label 102 'measured '.axis at @bottom
set label 101 'predicted '.axis at @left

array colours[8] = [blue, vermillion, green, orange, purple, sky, black, '#8b4513']
array shapes[8] = [6, 4, 8, 10, 12, 1, 2, 3]
of(i, value) = column('counted') > 0 && int(column('group')) == i ? value : NaN
uncounted_at(value) = column('counted') > 0 ? NaN : value
upper(x) = in_points ? x + 10 : 1.1*x
lower(x) = in_points ? x - 10 : x/1.1
set samples 1000
plot '+' using 1:(lower($1)):(upper($1)) with filledcurves fillcolor rgb '#e9e9e9' \
         fillstyle solid noborder title (in_points ? 'within 10 points' : 'within 10 %'), \
     x with lines linewidth 0.6 linecolor rgb black notitle, \
     data using (column('measured')):(uncounted_at(column('low'))):(0):(column('high') - column('low')) \
         with vectors nohead linewidth 0.4 linecolor rgb '#c8c8c8' notitle, \
     for [i = 1:8] data using (column('measured')):(of(i, column('low'))):(0):(column('high') - column('low')) \
         with vectors nohead linewidth 0.6 linecolor rgb colours[i] notitle, \
     data using (column('measured')):(uncounted_at(column('predicted'))) \
         with points pointtype 6 pointsize 0.8*ring linewidth 0.6 linecolor rgb grey \
         title (uncounted > 0 ? 'not counted' : ''), \
     for [i = 1:groups] data using (column('measured')):(of(i, column('predicted'))) \
         with points pointtype shapes[i] pointsize 0.8*ring linewidth 0.9 linecolor rgb colours[i] \
         title (series[i] ne '' ? series[i] : 'counted')
