# SPDX-License-Identifier: GPL-3.0-or-later
# Miss ratio against the size of the cache, of one trace (stallcast mrc --plot).
height = 2.0
rows = 1
load 'style.gp'

axis = ''
policy = ''
sampled = 0
stats data using (axis = strcol('axis'), policy = strcol('policy'), \
                  sampled = int(column('sampled')), column('x')) name 'X' nooutput
name = policy eq 'random' ? 'random replacement' : policy eq 'aet' ? 'LRU, from reuse times' : 'LRU'

set logscale x 2
# A curve of one point has a width too.
set xrange [X_min/(X_max > X_min ? 1 : 2) : X_max*(X_max > X_min ? 1 : 2)]
octaves = ceil(log(X_max/X_min)/log(2))
every = octaves > 6 ? ceil(octaves/6.) : 1
bytes(x) = x < 2**10 ? sprintf('%.0f B', x) : x < 2**20 ? sprintf('%.3g KiB', x/2**10) : \
           x < 2**30 ? sprintf('%.3g MiB', x/2**20) : sprintf('%.4g GiB', x/2**30)
label(x) = axis eq 'bytes' ? bytes(x) : sprintf('%.0f', x)
set xtics ()
set for [i = 0:octaves:every] xtics add (label(X_min*2.**i) X_min*2.**i)
set yrange [0:1]
set ytics 0.2
set label 102 axis eq 'bytes' ? 'cache' : 'cache (blocks)' at @bottom
set label 101 'miss ratio' at @left
plot data using (column('x')):(sampled ? column('low') : NaN):(column('high')) \
         with filledcurves fillcolor rgb blue fillstyle transparent solid band noborder \
         title (sampled ? 'one standard error' : ''), \
     data using (column('x')):(column('miss_ratio')) \
         with lines linecolor rgb blue linewidth 1.2 title name, \
     data using (column('x')):(X_max > X_min ? NaN : column('miss_ratio')) \
         with points pointtype 6 pointsize ring linewidth 0.8 linecolor rgb blue notitle
