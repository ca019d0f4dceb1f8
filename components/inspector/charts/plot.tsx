'use client'
import { useEffect, useEffectEvent, useRef } from 'react'
import './valid-locale.ts'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { countText } from '#components/token-view/numbers.ts'
import { float64At, uint32At } from '#lib/util/element-at.ts'
import { type AxesRange, type Density, densityOf, isolatedCells, nearestPoint, pointSizes } from './density.ts'

interface PlotPoints {
  readonly x: Float64Array
  readonly y: Float64Array
}

interface PlotAxis {
  readonly label: string
  /** Values with a label. If omitted, the plot chooses them. */
  readonly ticks?: readonly { readonly value: number; readonly text: string }[]
  readonly min: number
  readonly max: number
}

interface PlotProps {
  /** Label for screen readers; a table beside the plot has its numbers. */
  readonly label: string
  readonly x: PlotAxis
  readonly y: PlotAxis
  readonly points: PlotPoints
  /** Values at the x of the points, drawn as a line. If omitted, there is no line. */
  readonly line?: Float64Array | undefined
  /** Draws a line through the points, with an interval around each. If omitted, there is none. */
  readonly curve?: PlotCurve | undefined
  /** Shaded ranges of x. If omitted, there are none. */
  readonly bands?: readonly { readonly from: number; readonly to: number }[]
  /** Horizontal lines with a label at the left. The colour is the name of a CSS variable. */
  readonly rules?: readonly PlotRule[]
  /** A vertical line. */
  readonly marker?: number | undefined
  /** Points that are drawn larger in another colour. */
  readonly highlights?: readonly PlotHighlight[]
  /** Points that are drawn as amber rings, apart from the others. */
  readonly rings?: PlotPoints | undefined
  /** Whether the line x = y is drawn. */
  readonly hasDiagonal?: boolean
  /** Axes that a drag zooms. */
  readonly zooms: 'x' | 'xy'
  /** Index of the marked point; undefined means none. */
  readonly chosen?: number | undefined
  readonly height: number
  /** Called with the index of the point nearest to the pointer; `onChoose` with that of a clicked point. */
  readonly onPoint: (index: number | undefined) => void
  readonly onChoose: (index: number) => void
  /** Called with the index of a double-clicked point. */
  readonly onOpen: (index: number) => void
  /** Called with a function that resets the zoom, or with `undefined` when the whole plot is visible. */
  readonly onZoom: (reset: (() => void) | undefined) => void
}

/** A curve through the points of a plot. */
interface PlotCurve {
  /** Ends of the interval around each point. */
  readonly low: Float64Array
  readonly high: Float64Array
  /** Index of the point after which the curve drops; the part up to the next point is red. Undefined: none. */
  readonly drop: number | undefined
}

/** A horizontal line of a plot. */
interface PlotRule {
  readonly y: number
  readonly colour: string
  readonly label: string
  readonly isDashed: boolean
}

/** Points of a plot in a colour of their own. The colour is the name of a CSS variable. */
interface PlotHighlight {
  readonly indices: readonly number[]
  readonly colour: string
}

/** The largest distance of a click from a point, in CSS pixels. */
const REACH = 8
/** Smallest movement of a drag, in CSS pixels; shorter ones are clicks. */
const DRAGGED = 4

/** Plots thousands of points as their density, with the axes and the zoom of uPlot. */
export function Plot(props: PlotProps) {
  const { points, line, x, y, bands, rules, marker, highlights, rings, curve, chosen, label, height } = props
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(null)

  const pointAt = (shown: UPlot): number | undefined => {
    const { left = -1, top = -1 } = shown.cursor
    if (left < 0 || top < 0) return undefined
    const frame = frameOf(shown)
    const reach = {
      x: (REACH / shown.over.clientWidth) * (frame.maxX - frame.minX),
      y: (REACH / shown.over.clientHeight) * (frame.maxY - frame.minY),
    }
    const at = { x: shown.posToVal(left, 'x'), y: shown.posToVal(top, 'y') }
    const found = nearestPoint(props.points.x, props.points.y, at, reach)
    return found < 0 ? undefined : found
  }
  const onCursor = useEffectEvent((shown: UPlot) => props.onPoint(pointAt(shown)))
  const onClick = useEffectEvent((shown: UPlot) => {
    const index = pointAt(shown)
    if (index !== undefined) props.onChoose(index)
  })
  const onDoubleClick = useEffectEvent((shown: UPlot) => {
    const index = pointAt(shown)
    if (index !== undefined) props.onOpen(index)
  })
  const onScale = useEffectEvent((shown: UPlot) => {
    const { minX, maxX, minY, maxY } = frameOf(shown)
    const isWhole = minX <= props.x.min && maxX >= props.x.max && minY <= props.y.min && maxY >= props.y.max
    props.onZoom(isWhole ? undefined : () => setWhole(shown, props))
  })
  const draw = useEffectEvent((shown: UPlot) => drawPoints(shown, props))
  const drawGround = useEffectEvent((shown: UPlot) => drawUnder(shown, props))

  // biome-ignore lint/correctness/useExhaustiveDependencies: the plot is created again when its points or axes change
  useEffect(() => {
    const element = box.current
    if (!element) return
    const created = new UPlot(
      {
        width: Math.max(200, element.clientWidth),
        height,
        legend: { show: false },
        scales: {
          x: { time: false, auto: false },
          y: { auto: false },
        },
        axes: [axisOptions(x, x.label === '' ? 24 : 34), axisOptions(y, y.ticks ? 34 : 52)],
        series: [
          {},
          {
            stroke: () => cssColour('--ink'),
            width: 1.5,
            points: { show: false },
          },
        ],
        cursor: {
          drag: { x: true, y: props.zooms === 'xy', dist: DRAGGED, ...(props.zooms === 'xy' && { uni: 24 }) },
          points: { show: false },
          // A double click opens a token here; the zoom is reset by a button.
          bind: { dblclick: () => null },
        },
        hooks: {
          setCursor: [(plot) => onCursor(plot)],
          setScale: [(shown) => onScale(shown)],
          drawClear: [(shown) => drawGround(shown)],
          drawAxes: [(shown) => draw(shown)],
        },
      },
      dataOf(props),
      element,
    )
    setWhole(created, props)
    plot.current = created
    let pressed = { x: 0, y: 0 }
    created.over.addEventListener('pointerdown', ({ clientX, clientY }) => {
      pressed = { x: clientX, y: clientY }
    })
    created.over.addEventListener('click', ({ clientX, clientY }) => {
      if (Math.hypot(clientX - pressed.x, clientY - pressed.y) < DRAGGED) onClick(created)
    })
    created.over.addEventListener('dblclick', () => onDoubleClick(created))
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0 && element.clientWidth !== created.width)
        created.setSize({ width: element.clientWidth, height })
    })
    observer.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const redraw = () => created.redraw(false)
    scheme.addEventListener('change', redraw)
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', redraw)
      created.destroy()
      plot.current = null
    }
  }, [points, x.min, x.max, y.min, y.max, x.label, y.label, height])
  const showData = useEffectEvent(() => plot.current?.setData(dataOf(props), false))
  // biome-ignore lint/correctness/useExhaustiveDependencies: these are the data that are drawn
  useEffect(() => {
    showData()
    plot.current?.redraw(true)
  }, [points, line])
  // biome-ignore lint/correctness/useExhaustiveDependencies: these are drawn over and under the points
  useEffect(() => plot.current?.redraw(false), [chosen, bands, rules, marker, highlights, rings, curve])
  // The plot is drawn after the page, which has space for it before.
  return (
    <div ref={box} role="img" aria-label={label} className="min-w-0 overflow-hidden" style={{ minHeight: height }} />
  )
}

/** Returns the line, or an empty series over the range of x: the points are drawn by hand and not a series of uPlot. */
const dataOf = ({ points, line, x }: PlotProps): UPlot.AlignedData =>
  line
    ? [points.x, line]
    : [
        [x.min, x.max],
        [null, null],
      ]

function setWhole(plot: UPlot, { x, y }: Pick<PlotProps, 'x' | 'y'>): void {
  plot.batch(() => {
    plot.setScale('x', { min: x.min, max: x.max })
    plot.setScale('y', { min: y.min, max: y.max })
  })
}

const frameOf = ({ scales }: UPlot): AxesRange => ({
  minX: scales.x?.min ?? 0,
  maxX: scales.x?.max ?? 1,
  minY: scales.y?.min ?? 0,
  maxY: scales.y?.max ?? 1,
})

const axisOptions = ({ label, ticks }: PlotAxis, size: number): UPlot.Axis => ({
  ...(label !== '' && { label, labelSize: 18 }),
  ...(ticks && { splits: () => ticks.map(({ value }) => value) }),
  // uPlot would write numbers in the language of the browser; all others are in English.
  values: (_, values) => ticks?.map(({ text }) => text) ?? values.map((value) => countText(value).replace('-', '−')),
  size,
  font: FONT,
  labelFont: FONT,
  stroke: () => cssColour('--dim'),
  grid: { stroke: () => cssColour('--line'), width: 1 },
  ticks: { stroke: () => cssColour('--line'), width: 1, size: 4 },
})

const FONT_FAMILY = '"Inter Variable", ui-sans-serif, system-ui, sans-serif'
const FONT = `11px ${FONT_FAMILY}`

const cssColour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Draws bands, the diagonal and a curve below everything else. */
function drawUnder(plot: UPlot, { bands = [], hasDiagonal = false, points, curve }: PlotProps): void {
  const { ctx, bbox, valToPos, scales } = plot
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.fillStyle = cssColour('--accent-soft')
  for (const { from, to } of bands) {
    if (to < (scales.x?.min ?? 0) || from > (scales.x?.max ?? 0)) continue
    const left = valToPos(from, 'x', true)
    ctx.fillRect(left, bbox.top, Math.max(1, valToPos(to, 'x', true) - left), bbox.height)
  }
  if (hasDiagonal) {
    const [low, high] = [
      Math.min(scales.x?.min ?? 0, scales.y?.min ?? 0),
      Math.max(scales.x?.max ?? 0, scales.y?.max ?? 0),
    ]
    ctx.strokeStyle = cssColour('--line-strong')
    ctx.setLineDash([4, 4])
    ctx.beginPath()
    ctx.moveTo(valToPos(low, 'x', true), valToPos(low, 'y', true))
    ctx.lineTo(valToPos(high, 'x', true), valToPos(high, 'y', true))
    ctx.stroke()
  }
  if (curve) drawCurve(plot, points, curve)
  ctx.restore()
}

function drawCurve({ ctx, valToPos }: UPlot, { x, y }: PlotPoints, { low, high, drop }: PlotCurve): void {
  const at = (index: number, values: Float64Array): [number, number] => [
    valToPos(float64At(x, index), 'x', true),
    valToPos(float64At(values, index), 'y', true),
  ]
  const indices = Array.from(x, (_, index) => index)
  ctx.fillStyle = cssColour('--accent')
  ctx.globalAlpha = 0.22
  ctx.beginPath()
  for (const index of indices) ctx.lineTo(...at(index, high))
  for (const index of indices.toReversed()) ctx.lineTo(...at(index, low))
  ctx.fill()
  ctx.globalAlpha = 1
  const { outlier: width } = pointSizes(window.devicePixelRatio || 1)
  ctx.lineWidth = width / 2
  ctx.lineJoin = 'round'
  for (const index of indices.slice(1)) {
    ctx.strokeStyle = cssColour(drop === index - 1 ? '--bad' : '--accent')
    ctx.beginPath()
    ctx.moveTo(...at(index - 1, y))
    ctx.lineTo(...at(index, y))
    ctx.stroke()
  }
}

function drawPoints(plot: UPlot, { points, chosen, rules = [], marker, highlights = [], rings }: PlotProps): void {
  const { ctx, bbox } = plot
  const { cell: size, outlier } = pointSizes(window.devicePixelRatio || 1)
  const [columns, rows] = [Math.max(1, Math.floor(bbox.width / size)), Math.max(1, Math.floor(bbox.height / size))]
  const density = densityOf(points.x, points.y, frameOf(plot), columns, rows)
  const image = densityImage(density, cssColour('--accent'))
  ctx.save()
  ctx.imageSmoothingEnabled = false
  ctx.drawImage(image, bbox.left, bbox.top, columns * size, rows * size)
  ctx.fillStyle = cssColour('--accent')
  ctx.beginPath()
  for (const cell of isolatedCells(density)) {
    const [column, row] = [cell % columns, Math.floor(cell / columns)]
    const [x, y] = [bbox.left + (column + 0.5) * size, bbox.top + (row + 0.5) * size]
    ctx.moveTo(x, y)
    ctx.arc(x, y, outlier / 2, 0, 2 * Math.PI)
  }
  ctx.fill()
  const { minX, maxX } = frameOf(plot)
  for (const { y: at, colour, isDashed } of rules) {
    const top = plot.valToPos(at, 'y', true)
    ctx.strokeStyle = cssColour(colour)
    ctx.lineWidth = size / 2
    ctx.setLineDash(isDashed ? [size, size * 1.5] : [])
    ctx.beginPath()
    ctx.moveTo(bbox.left, top)
    ctx.lineTo(bbox.left + bbox.width, top)
    ctx.stroke()
  }
  ctx.setLineDash([])
  const dots: Dot[] = []
  for (const { indices, colour } of highlights) {
    ctx.fillStyle = cssColour(colour)
    ctx.beginPath()
    for (const index of indices) {
      const [at, value] = [float64At(points.x, index), float64At(points.y, index)]
      if (at < minX || at > maxX) continue
      const [left, top] = [plot.valToPos(at, 'x', true), plot.valToPos(value, 'y', true)]
      dots.push({ left, top })
      ctx.moveTo(left, top)
      ctx.arc(left, top, 1.6 * size, 0, 2 * Math.PI)
    }
    ctx.fill()
  }
  drawRuleLabels(plot, rules, dots, size)
  const ring = (at: number, value: number) => {
    ctx.lineWidth = size
    ctx.beginPath()
    ctx.arc(plot.valToPos(at, 'x', true), plot.valToPos(value, 'y', true), 3 * size, 0, 2 * Math.PI)
    ctx.stroke()
  }
  ctx.strokeStyle = cssColour('--warn')
  for (const [index, at] of (rings?.x ?? []).entries()) if (at >= minX && at <= maxX) ring(at, rings?.y[index] ?? 0)
  if (marker !== undefined && marker >= minX && marker <= maxX) {
    const left = plot.valToPos(marker, 'x', true)
    ctx.strokeStyle = cssColour('--ink')
    ctx.lineWidth = size / 2
    ctx.beginPath()
    ctx.moveTo(left, bbox.top)
    ctx.lineTo(left, bbox.top + bbox.height)
    ctx.stroke()
  }
  const [x, y] = [points.x[chosen ?? -1], points.y[chosen ?? -1]]
  if (x !== undefined && y !== undefined) {
    ctx.strokeStyle = cssColour('--ink')
    ring(x, y)
  }
  ctx.restore()
}

/** Centre of a highlighted point, in pixels of the canvas. */
interface Dot {
  readonly left: number
  readonly top: number
}

/** Draws the labels of horizontal lines, as far left as no highlighted point is under them. */
function drawRuleLabels(
  { ctx, bbox, valToPos }: UPlot,
  rules: readonly PlotRule[],
  dots: readonly Dot[],
  size: number,
): void {
  ctx.textAlign = 'left'
  ctx.textBaseline = 'alphabetic'
  ctx.font = `${5.5 * size}px ${FONT_FAMILY}`
  for (const { y: at, colour, label } of rules) {
    const line = valToPos(at, 'y', true)
    const baseline = at < 0 ? line + 6.5 * size : line - 2 * size
    const { width } = ctx.measureText(label)
    const hides = (left: number) =>
      dots.some(
        (dot) =>
          Math.abs(dot.left - left - width / 2) < width / 2 + 3 * size &&
          Math.abs(dot.top - baseline + 2 * size) < 5 * size,
      )
    const first = bbox.left + 3 * size
    let left = first
    while (hides(left) && left + width < bbox.left + bbox.width) left += 4 * size
    ctx.fillStyle = cssColour(colour)
    ctx.fillText(label, left + width < bbox.left + bbox.width ? left : first, baseline)
  }
}

/** Opacity of a cell with one point. Cells with more points are darker, by the logarithm of their number. */
const LONE = 0.55

function densityImage({ columns, rows, counts, most }: Density, colour: string): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = columns
  canvas.height = rows
  const context = canvas.getContext('2d')
  if (!context) return canvas
  const image = context.createImageData(columns, rows)
  const rgb = Number.parseInt(colour.slice(1), 16)
  const pixels = new Uint32Array(image.data.buffer)
  const opaque = ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)
  const span = Math.log(most) || 1
  for (let cell = 0; cell < counts.length; cell++) {
    const count = uint32At(counts, cell)
    if (count === 0) continue
    const alpha = Math.round(255 * (LONE + (1 - LONE) * (Math.log(count) / span)))
    pixels[cell] = ((alpha << 24) | opaque) >>> 0
  }
  context.putImageData(image, 0, 0)
  return canvas
}
