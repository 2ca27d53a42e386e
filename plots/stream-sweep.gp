# SPDX-License-Identifier: GPL-3.0-or-later
# A streaming kernel: what it takes, and how far from a cycle simulator our answers are.
height = 2.3
rows = 1
load 'style.gp'

# Runs of the sweep that data/published/stream.csv describes; others by their name.
names = 'q_w1 "1 warp/SM" q_w2 "2 warps/SM" q_w8_base "8 warps/SM" q_w32 "32 warps/SM" ' \
      . 'q_w8_l96 "96 loads" q_w8_dram300 "latency 531" q_w8_rop320 "latency 491" ' \
      . 'q_w8_mlp2 "2 in flight" q_w8_b32 "32 B loads" q_w8_b512 "512 B loads" ' \
      . 'q_w8_mshr32_m "32 MSHRs" q_w8_mshr8_m "8 MSHRs"'
label(s) = (index = sum [i = 1:words(names)] (word(names, i) eq s ? i : 0), index > 0 ? word(names, index + 1) : s)

stats data using 'position' nooutput
runs = int(STATS_max)
array cycles[runs]
stats data using (strcol('source') eq published ? (cycles[int(column('position'))] = column('cycles')) : NaN) nooutput

y = "(-column('position'))"
kilo(source) = when(source, 'kernel', 1e-3*column('cycles'))
error(source) = when(source, 'kernel', 100*(column('cycles')/cycles[int(column('position'))] - 1))

stats data using (abs(error(strcol('source')))) nooutput
largest = STATS_max > 5 ? 10*ceil(STATS_max/10) : 5

set yrange [-runs - 0.6:-0.4]
set grid noytics
set grid xtics linetype 1 linewidth 0.3 linecolor rgb '#d8d8d8'
set bmargin at screen 0.36/height
set multiplot
set lmargin at screen 0.78/width
set rmargin at screen 2.25/width
set xrange [0:70]
set xtics 20
set label 102 'thousand cycles' at @bottom
plot data using (0):(@y):ytic(label(strcol('group'))) with points pointtype -1 notitle, \
     for [k = 2:1:-1] data using (kilo(published)):(@y) with points linestyle k notitle, \
     data using (kilo(simulator)):(@y) \
         with points pointtype 6 pointsize 1.2*ring linewidth 0.9 linecolor rgb vermillion notitle, \
     data using (kilo(closed)):(@y - 0.35):(0):(0.7) \
         with vectors nohead linewidth 1.3 linecolor rgb blue notitle, \
     keyentry with points linestyle 1 title 'published', \
     keyentry with points pointtype 6 pointsize 1.2*ring linewidth 0.9 linecolor rgb vermillion title 'simulator', \
     keyentry with lines linewidth 1.3 linecolor rgb blue title 'closed form'
unset key
set lmargin at screen 2.35/width
set rmargin at screen 1 - 0.06/width
set xrange [-largest:largest]
set xtics largest/2
unset ytics
set arrow from 0, graph 0 to 0, graph 1 nohead linewidth 0.6 linecolor rgb black back
set label 102 'difference (%)' at @bottom
plot data using (error(simulator)):(@y) \
         with points pointtype 6 pointsize 1.2*ring linewidth 0.9 linecolor rgb vermillion, \
     data using (error(closed)):(@y - 0.35):(0):(0.7) \
         with vectors nohead linewidth 1.3 linecolor rgb blue
unset multiplot
