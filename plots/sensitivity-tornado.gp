# SPDX-License-Identifier: GPL-3.0-or-later
# Which keys a metric hangs on, largest first (stallcast sensitivity --plot).
set datafile separator comma
set datafile columnheaders
bars = 0
stats 'data.csv' using (column('place')) name 'P' nooutput
bars = int(P_max) + 1
height = 0.75 + 0.14*bars
rows = 1
load 'style.gp'

mode = ''
metric = ''
longest = 0
stats data using (mode = strcol('mode'), metric = strcol('metric'), \
                  longest = strlen(strcol('name')) > longest ? strlen(strcol('name')) : longest, \
                  column('total')) name 'T' nooutput
local = mode eq 'elasticities'

set lmargin at screen 0.03 + 0.0156*(longest < 14 ? 14 : longest > 38 ? 38 : longest)
set rmargin at screen 0.96
set grid xtics linetype 1 linewidth 0.3 linecolor rgb '#d8d8d8'
set grid noytics
set yrange [bars - 0.5:-0.5]
if (!local && T_min >= 0) set xrange [0:*]
set ytics scale 0 noenhanced font small
# Five numbers or so, whose text has room.
from = (local ? (T_min < 0 ? T_min : 0) : 0)
span = (T_max > 0 ? T_max : 0) - from
if (!(span > 0)) span = 1
decade = 10**floor(log10(span/5.))
step = span/5. <= decade ? decade : span/5. <= 2*decade ? 2*decade : span/5. <= 5*decade ? 5*decade : 10*decade
set xtics step
set format x '%g'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead linewidth 0.6 linecolor rgb '#404040' front
set label 102 (local ? '% of '.metric.' per % of the key' : \
                       'share of the variance of '.metric) noenhanced at @bottom
half = 0.36
up(x) = x > 0 ? x : 0
down(x) = x < 0 ? x : 0
low(x) = x < 0 ? x : 0
high(x) = x > 0 ? x : 0
place = "(column('place'))"
plot data using (0):@place:(low(column('first'))):(high(column('first'))):(column('place') - half):(column('place') + half):ytic(strcol('name')) \
         with boxxyerror fillcolor rgb (local ? vermillion : blue) \
         title (local ? '' : 'alone (first order)'), \
     data using (0):@place:(local ? low(column('first')) : NaN):(0):(column('place') - half):(column('place') + half) \
         with boxxyerror fillcolor rgb blue notitle, \
     data using (0):@place:(local ? NaN : column('first')):(column('total')):(column('place') - half):(column('place') + half) \
         with boxxyerror fillcolor rgb sky title (local ? '' : 'with others (total)'), \
     data using (local ? NaN : column('total')):@place:(column('error')) \
         with xerrorbars pointtype 0 linewidth 0.6 linecolor rgb black notitle
