"""Curves of recall and false alarms against strength, one panel a kind of fault; SVG by hand."""
from xml.sax.saxutils import escape

COLUMNS, WIDTH, HEIGHT = 3, 300, 190
LEFT, TOP, RIGHT, BOTTOM = 40, 34, 12, 44
# Blue and orange of Okabe and Ito's palette, which colour-blind readers can tell apart, and grey.
STYLE = {"normal": ("#0072b2", ""), "high": ("#e69f00", "5 3")}


def label(value):
    if isinstance(value, tuple):
        return f"{100 * (value[0] - 1):.0f}/{100 * value[1]:.0f}"
    if isinstance(value, int):
        return f"{value} ms"
    return f"+{100 * (value - 1):.0f} %" if value > 1 else f"{100 * value:.0f} %"


def panel(kind, strengths, done, x0, y0):
    """One kind of fault."""
    inner_w, inner_h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    x = lambda i: x0 + LEFT + inner_w * (i + 0.5) / len(strengths)
    y = lambda share: y0 + TOP + inner_h * (1 - share)
    out = [f'<text x="{x0 + LEFT}" y="{y0 + 20}" font-weight="bold">{escape(kind)}</text>']
    for share in (0, 0.5, 1):
        out.append(f'<line x1="{x0 + LEFT}" x2="{x0 + WIDTH - RIGHT}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x0 + LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{100 * share:.0f}%</text>')
    for i, s in enumerate(strengths):
        out.append(f'<text x="{x(i):.1f}" y="{y0 + HEIGHT - BOTTOM + 16}" text-anchor="middle">{label(s)}</text>')
        wrong = [done[kind, s, n] for n in STYLE if (kind, s, n) in done]
        jobs = sum(l.jobs for l in wrong)
        share = sum(l.with_invention for l in wrong) / jobs if jobs else 0
        if share:
            out.append(f'<rect x="{x(i) - 7:.1f}" width="14" y="{y(share):.1f}" height="{inner_h * share:.1f}" fill="#bbb"><title>{100 * share:.0f} % of {jobs} jobs have a false alarm</title></rect>')
    for noise, (colour, dashes) in STYLE.items():
        points = [(x(i), y(done[kind, s, noise].recall)) for i, s in enumerate(strengths) if (kind, s, noise) in done and done[kind, s, noise].recall is not None]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        out += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>' for px, py in points]
    return out


def draw(done):
    """All kinds: an SVG document."""
    kinds = {}
    for kind, strength, _ in done:
        kinds.setdefault(kind, {})[strength] = None
    rows = -(-len(kinds) // COLUMNS)
    width, height = COLUMNS * WIDTH, rows * HEIGHT + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="11" fill="#333">',
           "<title>Share of faults found, and of jobs with a false alarm, against the strength of the fault</title>",
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for k, (kind, strengths) in enumerate(kinds.items()):
        out += panel(kind, list(strengths), done, k % COLUMNS * WIDTH, k // COLUMNS * HEIGHT)
    y = height - 12
    out.append(f'<line x1="40" x2="64" y1="{y - 4}" y2="{y - 4}" stroke="#0072b2" stroke-width="2"/><text x="70" y="{y}">found, normal noise</text>')
    out.append(f'<line x1="200" x2="224" y1="{y - 4}" y2="{y - 4}" stroke="#e69f00" stroke-width="2" stroke-dasharray="5 3"/><text x="230" y="{y}">found, high noise</text>')
    out.append(f'<rect x="350" y="{y - 10}" width="14" height="10" fill="#bbb"/><text x="370" y="{y}">jobs with a false alarm</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
