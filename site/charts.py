"""The chart of the explorer: one panel of the figure, for whatever curves it is given."""

import altair as alt


def panel():
    """One panel as a Vega-Lite specification; the page adds data, colours and the kind of axis.

    Its data are named "curves": rows with `people`, `number`, `iteration`, `value`, `low`, `high`
    and `average`.
    """
    nearest = alt.selection_point(
        "nearest", on="pointerover", nearest=True, fields=["iteration", "people"], empty=False
    )
    x = alt.X("iteration:Q", axis=alt.Axis(format=",d", tickCount=4, title="iteration"))
    color = alt.Color("people:N", legend=None)
    base = alt.Chart(alt.NamedData("curves")).encode(x=x, color=color)
    numbers = {"value": "now", "low": "95 % from", "high": "95 % to", "average": "running average"}
    # A number: Vega-Lite 6 loses words in the tooltip of the nearest point.
    tooltip = [alt.Tooltip("number:Q", format="d", title="M")]
    tooltip += [alt.Tooltip("iteration:Q", format=",d")]
    tooltip += [alt.Tooltip(f"{k}:Q", format="+.4f", title=t) for k, t in numbers.items()]
    y = alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=6))
    opacity = alt.when(nearest).then(alt.value(1)).otherwise(alt.value(0))
    chart = alt.layer(
        base.mark_area(opacity=0.2, aria=False).encode(y=alt.Y("low:Q", title=None), y2="high:Q"),
        base.mark_line(strokeWidth=1, strokeDash=[4, 2], aria=False).encode(y="average:Q"),
        base.mark_line(strokeWidth=2, aria=False).encode(y=y),
        alt.Chart().mark_rule(aria=False).encode(y=alt.datum(0)),
        base.mark_point(filled=True, size=60, aria=False)
        .encode(y=y, tooltip=tooltip, opacity=opacity)
        .add_params(nearest),
    )
    return chart.properties(width="container", height=230).to_dict()
