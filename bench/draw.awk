# SPDX-License-Identifier: BSD-3-Clause
# Draws a plot as SVG. It is drawn for 640 points of width and can be read at 400.
#
#   draw_begin(kind, scale, title, unit)   kind: curves or bars; scale: log or linear, of the values; unit: s, B/s or anything else
#   draw_axis(kind, label)                 of curves: bytes or number, with a label below
#   draw_point(series, x, y, low, high)    in the order in which they are drawn; low and high are the ends of the error bar
#   draw_end(file)                         writes it; a series called "floor" is drawn as marks beside the bars, or as a broken line

function draw_begin(kind, scale, title, unit)
{
	Draw_kind = kind
	Draw_scale = scale
	Draw_title = title
	Draw_unit = unit
	Draw_series = Draw_points = Draw_places = 0
	split("", Draw_number)
	split("", Draw_place)
}

function draw_axis(kind, label)
{
	Draw_axis = kind
	Draw_label = label
}

function draw_point(series, x, y, low, high)
{
	if (!(series in Draw_number)) {
		Draw_number[series] = ++Draw_series
		Draw_name[Draw_series] = series
	}
	if (!(x in Draw_place)) {
		Draw_place[x] = ++Draw_places
		Draw_x[Draw_places] = x
	}
	Draw_points++
	Point_series[Draw_points] = Draw_number[series]
	Point_x[Draw_points] = x
	Point_y[Draw_points] = y
	Point_low[Draw_points] = low
	Point_high[Draw_points] = high
}

function draw_end(file,    i)
{
	Draw_file = file
	Draw_least = Draw_most = Point_y[1]
	for (i = 1; i <= Draw_points; i++) {
		if (Point_low[i] < Draw_least)
			Draw_least = Point_low[i]
		if (Point_high[i] > Draw_most)
			Draw_most = Point_high[i]
	}
	if (Draw_scale == "log") {
		Draw_least = 10 ^ draw_below(log(Draw_least) / log(10))
		Draw_most = 10 ^ -draw_below(-log(Draw_most) / log(10))
	} else
		Draw_least = 0
	Draw_height = Draw_kind == "bars" ? 92 + draw_row() * Draw_places : 420
	draw_text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 " Draw_height "\" font-family=\"sans-serif\" font-size=\"15\">")
	draw_text("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")
	draw_words(320, 22, "middle", Draw_title, " font-size=\"17\" font-weight=\"bold\"")
	draw_names()
	if (Draw_kind == "bars")
		draw_bars()
	else
		draw_curves()
	draw_text("</svg>")
	close(Draw_file)
}

function draw_text(line)
{
	print line >Draw_file
}

function draw_words(x, y, anchor, words, more)
{
	gsub(/&/, "\\&amp;", words)
	gsub(/</, "\\&lt;", words)
	draw_text(sprintf("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>", x, y, anchor, more, words))
}

function draw_line(x1, y1, x2, y2, look)
{
	draw_text(sprintf("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>", x1, y1, x2, y2, look))
}

# The largest whole number that is not above it.
function draw_below(x,    n)
{
	n = int(x)
	return n > x + 1e-9 ? n - 1 : n + 1 <= x + 1e-9 ? n + 1 : n
}

function draw_colour(i)
{
	return Draw_name[i] == "floor" ? "#222" : substr("#1b6ca8#c2410c#2e7d32#7b3fa0#b8860b#5f6b7a", 7 * ((i - 1) % 6) + 1, 7)
}

# What is what, below the title.
function draw_names(    i, x, width)
{
	for (i = 1; i <= Draw_series; i++)
		width += 40 + 8.2 * length(draw_who(i))
	x = 320 - width / 2
	for (i = 1; i <= Draw_series; i++) {
		if (Draw_name[i] == "floor")
			draw_line(x, 39, x + 18, 39, "stroke=\"#222\" stroke-width=\"3\"" (Draw_kind == "bars" ? "" : " stroke-dasharray=\"6 4\""))
		else
			draw_text(sprintf("<rect x=\"%.1f\" y=\"33\" width=\"18\" height=\"12\" fill=\"%s\"/>", x, draw_colour(i)))
		draw_words(x + 23, 44, "start", draw_who(i), "")
		x += 40 + 8.2 * length(draw_who(i))
	}
}

function draw_who(i)
{
	return Draw_name[i] == "ours" ? "torushmem" : Draw_name[i] == "openmpi" ? "Open MPI" : Draw_name[i] == "floor" ? "floor" : Draw_name[i]
}

function draw_part(y)
{
	return Draw_scale == "log" ? log(y / Draw_least) / log(Draw_most / Draw_least) : y / Draw_most
}

# A value with its unit: 2.4 ns, 10 GB/s.
function draw_value(y,    i, p, text)
{
	if (Draw_unit != "s" && Draw_unit != "B/s")
		return sprintf("%.3g", y)
	p = Draw_unit == "s" ? "n µ m  k" : "    k M G T"
	for (i = 1; i < 8 && (Draw_unit == "s" ? 1e-9 : 1) * 1000 ^ i <= y * 1.0000001; i++)
		;
	split(Draw_unit == "s" ? "n,µ,m,,k,M,G,T" : ",k,M,G,T,P,E,Z", text, ",")
	y /= (Draw_unit == "s" ? 1e-9 : 1) * 1000 ^ (i - 1)
	return sprintf(y < 9.995 ? "%.2g" : "%.0f", y) " " text[i] Draw_unit
}

# --- Bars: lying, so that their names can be read ---

function draw_bar_count(    i, n)
{
	for (i = 1; i <= Draw_series; i++)
		n += Draw_name[i] != "floor"
	return n ? n : 1
}

function draw_row()
{
	return 20 * draw_bar_count() + 12
}

function draw_bars(    i, left, right, bottom, y, x, bar, rank, n)
{
	left = 90
	for (i = 1; i <= Draw_places; i++)
		if (9 * length(Draw_x[i]) + 16 > left)
			left = 9 * length(Draw_x[i]) + 16
	right = 560
	bottom = Draw_height - 34
	draw_scale_below(left, right, 52, bottom)
	for (i = n = 0; i++ < Draw_series;)
		rank[i] = Draw_name[i] == "floor" ? 0 : n++
	for (i = 1; i <= Draw_places; i++)
		draw_words(left - 8, 58 + draw_row() * (i - 1) + 10 * draw_bar_count() + 5, "end", Draw_x[i], "")
	for (i = 1; i <= Draw_points; i++) {
		y = 58 + draw_row() * (Draw_place[Point_x[i]] - 1)
		x = left + (right - left) * draw_part(Point_y[i])
		if (Draw_name[Point_series[i]] == "floor")
			continue
		bar = y + 20 * rank[Point_series[i]]
		draw_text(sprintf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"17\" fill=\"%s\"/>", left, bar, x - left, draw_colour(Point_series[i])))
		if (Point_low[i] < Point_high[i])
			draw_line(left + (right - left) * draw_part(Point_low[i]), bar + 8.5, left + (right - left) * draw_part(Point_high[i]), bar + 8.5, \
				"stroke=\"#000\" stroke-opacity=\"0.55\" stroke-width=\"1.5\"")
		draw_words(left + (right - left) * draw_part(Point_high[i]) + 6, bar + 14, "start", draw_value(Point_y[i]), "")
	}
	for (i = 1; i <= Draw_points; i++)
		if (Draw_name[Point_series[i]] == "floor") {
			y = 58 + draw_row() * (Draw_place[Point_x[i]] - 1)
			x = left + (right - left) * draw_part(Point_y[i])
			draw_line(x, y - 4, x, y + 20 * draw_bar_count() + 1, "stroke=\"#fff\" stroke-width=\"7\"")
			draw_line(x, y - 4, x, y + 20 * draw_bar_count() + 1, "stroke=\"#222\" stroke-width=\"3.5\"")
		}
}

function draw_scale_below(left, right, top, bottom,    v, step, x, decade)
{
	step = Draw_scale == "log" ? 0 : draw_step()
	for (v = Draw_least; v <= Draw_most * 1.0001; v = step ? v + step : v * 10) {
		x = left + (right - left) * draw_part(v)
		draw_line(x, top, x, bottom, "stroke=\"#ddd\"")
		if (step || decade++ % (Draw_most / Draw_least > 2e6 ? 2 : 1) == 0)
			draw_words(x, bottom + 20, "middle", draw_value(v), "")
	}
}

function draw_step(    step)
{
	step = 10 ^ draw_below(log(Draw_most) / log(10))
	return Draw_most / step < 2.5 ? step / 2 : step
}

# --- Curves ---

function draw_across(x)
{
	return 84 + 530 * (Draw_right > Draw_left ? (log(x) - Draw_left) / (Draw_right - Draw_left) : 0.5)
}

function draw_up(y)
{
	return 360 - 300 * draw_part(y)
}

function draw_curves(    i, v, s, path, x, y, step)
{
	Draw_left = Draw_right = log(Point_x[1])
	for (i = 1; i <= Draw_points; i++) {
		if (log(Point_x[i]) < Draw_left)
			Draw_left = log(Point_x[i])
		if (log(Point_x[i]) > Draw_right)
			Draw_right = log(Point_x[i])
	}
	step = Draw_scale == "log" ? 0 : draw_step()
	for (v = Draw_least; v <= Draw_most * 1.0001; v = step ? v + step : v * 10) {
		draw_line(84, draw_up(v), 614, draw_up(v), "stroke=\"#ddd\"")
		draw_words(78, draw_up(v) + 5, "end", draw_value(v), "")
	}
	for (i = 1; i <= Draw_places; i++)
		draw_tick(Draw_x[i])
	draw_words(349, 410, "middle", Draw_label, "")
	for (s = 1; s <= Draw_series; s++) {
		path = ""
		for (i = 1; i <= Draw_points; i++) {
			if (Point_series[i] != s)
				continue
			x = draw_across(Point_x[i])
			y = draw_up(Point_y[i])
			path = path sprintf(" %.1f,%.1f", x, y)
			if (Draw_name[s] == "floor")
				draw_line(x - 8, y, x + 8, y, "stroke=\"#222\" stroke-width=\"2.5\"")
			draw_line(x, draw_up(Point_low[i]), x, draw_up(Point_high[i]), "stroke=\"" draw_colour(s) "\" stroke-width=\"1.5\"")
			if (Draw_name[s] != "floor")
				draw_text(sprintf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>", x, y, draw_colour(s)))
		}
		draw_text("<polyline fill=\"none\" stroke=\"" draw_colour(s) "\" stroke-width=\"2.5\"" (Draw_name[s] == "floor" ? \
			" stroke-dasharray=\"6 4\"" : "") " points=\"" substr(path, 2) "\"/>")
	}
}

function draw_tick(v,    x)
{
	x = draw_across(v)
	draw_line(x, 60, x, 360, "stroke=\"#eee\"")
	if (Draw_places > 7 && x - Draw_last_tick < 56 && x > Draw_last_tick)
		return
	Draw_last_tick = x
	draw_words(x, 380, "middle", Draw_axis == "bytes" ? draw_bytes(v) : v, "")
}

function draw_bytes(v)
{
	return v >= 1048576 ? v / 1048576 " MiB" : v >= 1024 ? v / 1024 " KiB" : v " B"
}
