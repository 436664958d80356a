"""Draws the ratios as bars, with the spread over the rounds and a mark at the target."""
import math
from html import escape

WIDTH, LEFT, RIGHT, ROW, TOP = 980, 330, 90, 26, 70
LOW, HIGH = 0.1, 20.0


def _x(ratio):
    ratio = min(max(ratio, LOW), HIGH)
    return LEFT + (math.log(ratio) - math.log(LOW)) / (math.log(HIGH) - math.log(LOW)) * (WIDTH - LEFT - RIGHT)


def ratios(suite, began, verdicts):
    rows = [v for v in verdicts if v["peer"] and v["got"]]
    height = TOP + ROW * len(rows) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="12" y="24" font-size="16" font-weight="bold">Stoa against its peers: {escape(suite)}, {began:%Y-%m-%d}</text>',
           '<text x="12" y="44" fill="#555">Ratio of the same round, logarithmic: median (bar), least and most (line), target (red mark). '
           'For CPU less is better.</text>']
    bottom = TOP + ROW * len(rows)
    for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20):
        x = _x(tick)
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="{"#333" if tick == 1 else "#ddd"}"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" fill="#555">{tick:g}</text>')
    for index, verdict in enumerate(rows):
        y = TOP + ROW * index
        got, target = verdict["got"], float(verdict["target"].split()[-1])
        colour = "#3a7d44" if verdict["met"] else "#c77d0a"
        left, right = sorted((_x(1), _x(got["median"])))
        what = verdict["what"].replace("server CPU per operation", "CPU/op")
        out.append(f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">{escape(what)}</text>')
        out.append(f'<rect x="{left:.1f}" y="{y + 4}" width="{max(right - left, 1):.1f}" height="{ROW - 10}" fill="{colour}"/>')
        out.append(f'<line x1="{_x(got["min"]):.1f}" y1="{y + 12}" x2="{_x(got["max"]):.1f}" y2="{y + 12}" stroke="#111"/>')
        out.append(f'<line x1="{_x(target):.1f}" y1="{y + 1}" x2="{_x(target):.1f}" y2="{y + ROW - 3}" stroke="#c00" stroke-width="3"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y + 15}">{got["median"]:.2f}</text>')
    out.append("</svg>\n")
    return "\n".join(out)


def neighbours(result, situations):
    """The 99th percentile of a client, alone and beside a noisy one: a dot for each round, a bar at the median. Logarithmic."""
    wide, high, top, bottom = 300, 320, 60, 40
    values = [v for victim in result.values() for situation in situations for v in victim[situation]]
    low, most = math.log(min(values) / 1.3), math.log(max(values) * 1.3)

    def y(value):
        return top + (most - math.log(value)) / (most - low) * (high - top - bottom)

    width = 60 + wide * len(result)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{high}" fill="white"/>',
           '<text x="12" y="22" font-size="15" font-weight="bold">99th percentile of an NFS client beside 16 S3 writers, us</text>']
    for exponent in range(0, 7):
        for factor in (1, 2, 5):
            tick = factor * 10 ** exponent
            if low < math.log(tick) < most:
                out.append(f'<line x1="52" y1="{y(tick):.1f}" x2="{width - 8}" y2="{y(tick):.1f}" stroke="#ddd"/>')
                out.append(f'<text x="48" y="{y(tick) + 4:.1f}" text-anchor="end" fill="#555">{tick}</text>')
    for column, (name, victim) in enumerate(result.items()):
        left = 60 + column * wide
        out.append(f'<text x="{left + wide / 2}" y="44" text-anchor="middle">{escape(name)}</text>')
        alone = sorted(victim[situations[0]])[len(victim[situations[0]]) // 2]
        out.append(f'<line x1="{left}" y1="{y(1.5 * alone):.1f}" x2="{left + wide - 10}" y2="{y(1.5 * alone):.1f}" stroke="#c00" stroke-dasharray="4 3"/>')
        for index, situation in enumerate(situations):
            x = left + (index + 0.5) * (wide - 10) / len(situations)
            rounds = victim[situation]
            middle = y(sorted(rounds)[len(rounds) // 2])
            out.append(f'<line x1="{x - 22:.1f}" y1="{middle:.1f}" x2="{x + 22:.1f}" y2="{middle:.1f}" stroke="#3a7d44" stroke-width="3"/>')
            out += [f'<cycle cx="{x:.1f}" cy="{y(v):.1f}" r="3" fill="#111" fill-opacity="0.6"/>' for v in rounds]
            out.append(f'<text x="{x:.1f}" y="{high - 18}" text-anchor="middle">{escape(situation)}</text>')
    out.append(f'<text x="{width - 8}" y="{high - 3}" text-anchor="end" fill="#c00">dashed: 1.5 times alone, at most wanted when held to a limit</text>')
    out.append("</svg>\n")
    return "\n".join(out)
