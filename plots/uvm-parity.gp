# SPDX-License-Identifier: GPL-3.0-or-later
# Closed form of uvm against simulator, on scenarios that no coefficient was fitted to.
height = 2.9
rows = 3
load 'style.gp'

x = "(column('simulated_slowdown'))"
y = "(column('slowdown'))"
policy = "(strcol('series'))"
policies = 'uvm prefetch mapped ember-static ember-adaptive'
family = "(sum [k = 1:5] (word(policies, k) eq @policy ? k : 0))"
name(i) = word('"UVM" "prefetch" "mapped" "Ember static" "Ember adaptive"', i)
array colours[5] = [vermillion, orange, grey, blue, green]
array shapes[5] = [6, 1, 2, 4, 8]
of(i) = @family == i ? @y : NaN

stats data using (100*abs(@y/@x - 1)) name 'error' nooutput
stats data using (@y > 0 ? (column('slowdown_lo') <= @x && @x <= column('slowdown_hi') ? 100 : 0) : NaN) name 'inside' nooutput
stats data using (column('slowdown_hi')) name 'high' nooutput
has_band = exists('high_records') && high_records > 0 # there is none without a calibration
stats data using (@x) name 'x' nooutput

set logscale xy
set format xy '%g'
stats data using (@y) name 'y' nooutput
least = 0.9*(x_min < y_min ? x_min : y_min)
most = 1.1*(x_max > y_max ? x_max : y_max)
set xrange [least:most]
set yrange [least:most]
set xtics (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
set ytics (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
set grid xtics ytics linetype 1 linewidth 0.3 linecolor rgb '#d8d8d8'
set label sprintf('%d scenarios', error_records) at graph 0.97, graph 0.21 right
set label sprintf('median error %.1f %%', error_median) at graph 0.97, graph 0.14 right
if (has_band) {
    set label sprintf('%.0f %% inside their band', inside_mean) at graph 0.97, graph 0.07 right
}
set label 102 'slowdown, simulator' at @bottom
set label 101 'slowdown, closed form' at @left
plot data using (@x):(column('slowdown_lo')):(0):(column('slowdown_hi') - column('slowdown_lo')) \
         with vectors nohead linewidth 0.4 linecolor rgb '#c8c8c8' notitle, \
     x with lines linewidth 0.6 linecolor rgb black notitle, \
     for [i = 1:5] data using (@x):(of(i)) \
         with points pointtype shapes[i] pointsize 0.7*ring linewidth 0.6 linecolor rgb colours[i] title name(i)
