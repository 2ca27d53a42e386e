# SPDX-License-Identifier: GPL-3.0-or-later
# What all figures have in common.  A script sets `height` (inches) and `rows` (of the
# legend) and loads this; `format` (svg, png or pdf) comes from gnuplot's command line.
#
# In every figure a filled black diamond is published, the simulator is a bar or an
# open circle, and the closed form is a line with its band, or a dash with a whisker.

if (!exists('format')) format = 'svg'
width = 3.4 # inches: one column
fontsize = format eq 'svg' ? 8*96/72. : 8 # points
face(scale) = sprintf('Helvetica,%.2f', scale*fontsize)
usual = face(1)
small = face(0.9)
tiny = face(0.8)

# Sizes below are in points, whatever a terminal takes for one.  The SVG terminal does
# not know how wide and high its letters are: its legend is set closer to make up for it.
if (format eq 'svg') {
    set terminal svg size 96*width, 96*height fixed enhanced font usual \
        linewidth 96/72. dashlength 0.8 background '#ffffff'
    mark = 0.45
    keywidth = -4
    keyspacing = 0.72
    ring = 0.58
}
if (format eq 'png') {
    set terminal pngcairo size 300*width, 300*height enhanced font usual \
        fontscale 300/96. linewidth 300/72. pointscale 300/72. dashlength 0.8 background '#ffffff'
    mark = 0.5
    keywidth = -0.5
    keyspacing = 0.95
    ring = 0.5
}
if (format eq 'pdf') {
    set terminal pdfcairo size width, height enhanced font usual \
        fontscale 0.75 linewidth 2 dashlength 0.8 background '#ffffff'
    mark = 0.5
    keywidth = -0.5
    keyspacing = 0.95
    ring = 0.5
}
set output 'figure.'.format
set encoding utf8

# Okabe and Ito's colours, told apart by every kind of colour vision.
black = '#000000'
orange = '#e69f00'
sky = '#56b4e9'
green = '#009e73'
yellow = '#f0e442'
blue = '#0072b2'
vermillion = '#d55e00'
purple = '#cc79a7'
grey = '#999999'
pale = '#e6e6e6'

set border 3 linewidth 0.6 linecolor rgb '#404040'
set tics nomirror out scale 0.4 textcolor rgb black
set grid ytics linetype 1 linewidth 0.3 linecolor rgb '#d8d8d8'
set grid noxtics
# Above the data, never on it; filled column by column.
set key at screen 0.53, screen 1 - 0.03/height center top vertical maxrows rows reverse Left \
        samplen 0.9 width keywidth spacing keyspacing font small
set tmargin at screen 1 - (0.07 + 0.125*rows)/height
set lmargin at screen 0.42/width
set rmargin at screen 1 - 0.06/width
set bmargin at screen 0.36/height
set style fill solid noborder
set errorbars 0.6
set xtics offset 0, 0.3
set ytics offset 0.4, 0
# Where the names of the axes stand: `set label 101 'y' at @left ...`.
left = 'screen 0.075/width, graph 0.5 center rotate by 90'
bottom = 'graph 0.5, screen 0.06/height center'

# ---- the data: see figure.h ----

data = 'data.csv'
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

published = 'published'
simulator = 'simulator'
closed = 'closed form'

# Value where the row is from that source and series, NaN (left out) elsewhere.
when(source, series, value) = \
    strcol('source') eq source && strcol('series') eq series ? value : NaN
a_mean(group) = group eq 'geomean' || group eq 'mean'
mean(value) = a_mean(strcol('group')) ? value : NaN

# llama-70b: L70; qwen2.5-32b: Q32
upper(c) = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[strstrt('abcdefghijklmnopqrstuvwxyz', c):strstrt('abcdefghijklmnopqrstuvwxyz', c)]
size(s) = s[1:strstrt(s, 'b')-1]
short(s) = s eq 'geomean' ? 'mean' : upper(s[1:1]).size(s[strstrt(s, '-')+1:*])

# ---- how sources look ----

# Diamonds have a white rim, so that they stand out from a bar or a line.
set style line 1 linecolor rgb black pointtype 13 pointsize 1.1*mark linewidth 0.5 # published
set style line 2 linecolor rgb '#ffffff' pointtype 13 pointsize 1.7*mark linewidth 0.5 # its rim
# On bars the closed form is a dash, with its band as a whisker.
set style arrow 1 nohead linecolor rgb black linewidth 1
set style arrow 2 nohead linecolor rgb black linewidth 0.5
# The legend's bar for the simulator has no colour of its own.
set style fill solid noborder
# In curves it is a line with a band of its own colour, and the simulator a circle.
band = 0.22 # opacity
