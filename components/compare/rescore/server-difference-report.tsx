'use client'
/** The difference between two servers that scored the same ids: |Δ| along the positions, the noise floor, and the first jump. */
import { useMemo } from 'react'
import { countText, decimalText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import {
  type FirstJump,
  positionBins,
  type ServerDifference,
  type ServerNoise,
} from '#lib/analysis/rescore/server-difference.ts'
import type { Spread } from '#lib/analysis/spread.ts'
import { deltaText } from './rescore-texts.ts'

interface ServerDifferenceReportProps {
  readonly difference: ServerDifference
  readonly servers: { readonly left: string; readonly right: string }
  /** Number of tokens of the trajectory. */
  readonly tokens: number
  /** Shows a token in the lanes. */
  readonly onToken: (token: number) => void
}

/** Shows the verdict, the chart, the noise of each server and the first jump. */
export function ServerDifferenceReport({ difference, servers, tokens, onToken }: ServerDifferenceReportProps) {
  const { spread, noise, floor, above, jump } = difference
  return (
    <section
      aria-label="Difference between the servers"
      className="grid gap-2"
      data-floor={floor ?? 'unknown'}
      data-above={above ?? 'unknown'}
      data-jump={jump?.token ?? 'none'}
    >
      <p className="font-medium text-sm">{verdictText(difference)}</p>
      <PositionChart difference={difference} tokens={tokens} onToken={onToken} />
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {jump ? (
          <>
            <Button className="min-h-7! text-xs" onClick={() => onToken(jump.token)}>
              First jump: token {countText(jump.token)}
            </Button>
            <span className="text-dim tabular-nums">{jumpText(jump)}</span>
          </>
        ) : (
          <span className="text-dim">
            No jump: |Δ| keeps its level, and no token’s probability doubles or halves
            {floor === undefined ? '' : ' above the noise floor'}.
          </span>
        )}
      </p>
      <Facts>
        <Fact
          name="between the servers"
          title={`Median, 99th percentile and greatest |Δ| of ${countText(spread.tokens)} tokens, in nats`}
        >
          {spreadText(spread)}
        </Fact>
        {noise && (
          <>
            <NoiseFact server={servers.left} noise={noise.left} />
            <NoiseFact server={servers.right} noise={noise.right} />
          </>
        )}
      </Facts>
      <p className="text-faint">
        Median · p99 · max of |Δ| in nats. {noise ? 'Noise: the same ids, scored twice by one server. ' : ''}Both are
        raw logprobs of prompts at temperature 1.
      </p>
    </section>
  )
}

function NoiseFact({ server, noise }: { readonly server: string; readonly noise: ServerNoise }) {
  return (
    <Fact name={`noise of ${server}`} title="|Δ| between two passes over the same ids: median, 99th percentile, max">
      {noise.kind === 'measured' ? spreadText(noise.spread) : <span className="text-warn">unknown: {noise.why}</span>}
    </Fact>
  )
}

const natsText = (nats: number): string => (nats === 0 ? '0' : decimalText(nats, 4))

const spreadText = ({ median, p99, max }: Spread): string => [median, p99, max].map(natsText).join(' · ')

/** Returns the answer in one sentence: whether the servers differ by more than each differs from itself. */
function verdictText({ tokens, spread, floor, above }: ServerDifference): string {
  if (spread.max === 0) return `Both servers give the same logprobs for all ${countText(tokens.length)} tokens.`
  if (floor === undefined || above === undefined)
    return `The servers differ by at most ${natsText(spread.max)} nats. Their noise is unknown, so this may be noise.`
  if (above === 0) return `All differences are within the noise floor of ${natsText(floor)} nats.`
  return `${countText(above)} of ${countText(tokens.length)} tokens differ by more than the noise floor of ${natsText(floor)} nats.`
}

const jumpText = (jump: FirstJump): string =>
  jump.kind === 'level'
    ? `mean |Δ| ${natsText(jump.before)} → ${natsText(jump.after)} from there on`
    : `Δ ${deltaText(jump.delta)}, above the noise floor`

const WIDTH = 280
const HEIGHT = 84
const MOST_BINS = 140
/** Smallest height of a bar, so that a single token among thousands is visible. */
const LEAST = 2

/** Bars of the largest |Δ| of each part of the positions, on a logarithmic scale, with the floor and the first jump as lines. */
function PositionChart({
  difference,
  tokens,
  onToken,
}: Pick<ServerDifferenceReportProps, 'difference' | 'tokens' | 'onToken'>) {
  const { spread, floor = 0, jump } = difference
  const bins = useMemo(() => positionBins(difference, tokens, MOST_BINS), [difference, tokens])
  if (spread.max === 0) return null
  const [lowest, highest] = decadesOf([...bins.map(({ largest }) => Math.abs(largest?.delta ?? 0)), floor])
  const height = (nats: number) =>
    nats === 0 ? 0 : Math.max(LEAST, (HEIGHT * (Math.log10(nats) - lowest)) / (highest - lowest))
  const x = (position: number) => (position / tokens) * WIDTH
  return (
    <figure>
      <figcaption className="mb-1 text-dim">
        Largest |Δ| along the tokens, logarithmic; faint: within the noise
      </figcaption>
      {/* The buttons below and in the lists do the same by keyboard. */}
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 14}`}
        className="block w-full"
        role="img"
        aria-label={`|Δ| along ${countText(tokens)} tokens: median ${natsText(spread.median)}, greatest ${natsText(spread.max)}${floor > 0 ? `, noise floor ${natsText(floor)}` : ''}${jump ? `, first jump at token ${countText(jump.token)}` : ''}`}
        onPointerUp={(event) => {
          const { token } = event.target instanceof SVGElement ? event.target.dataset : {}
          if (token !== undefined) onToken(Number(token))
        }}
      >
        {bins.map(({ start, end, largest }) => {
          if (!largest) return null
          const nats = Math.abs(largest.delta)
          return (
            <g key={start} className="cursor-pointer">
              <rect
                x={x(start)}
                width={Math.max(0.5, x(end) - x(start) - 0.4)}
                y={HEIGHT - height(nats)}
                height={height(nats)}
                className={nats > floor ? 'fill-(--mark-hit)' : 'fill-line-strong'}
              />
              <rect
                x={x(start)}
                width={x(end) - x(start)}
                y={0}
                height={HEIGHT}
                fill="transparent"
                data-token={largest.token}
              >
                <title>{`Token ${countText(largest.token)}: Δ ${deltaText(largest.delta)}${nats > floor ? '' : ', within the noise'}`}</title>
              </rect>
            </g>
          )
        })}
        {floor > 0 && (
          <line
            x1="0"
            x2={WIDTH}
            y1={HEIGHT - height(floor)}
            y2={HEIGHT - height(floor)}
            className="stroke-ink"
            strokeDasharray="3 3"
          />
        )}
        {jump && (
          <line x1={x(jump.token)} x2={x(jump.token)} y1="0" y2={HEIGHT} className="stroke-bad" strokeWidth="1.25" />
        )}
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className="stroke-line-strong" />
        <text x="0" y={HEIGHT + 11} className="fill-faint text-[9px]">
          token 0
        </text>
        <text x={WIDTH} y={HEIGHT + 11} textAnchor="end" className="fill-faint text-[9px] tabular-nums">
          {countText(tokens - 1)}
        </text>
        <text x="0" y="8" className="fill-faint text-[9px]">
          10{superscript(highest)} nats
        </text>
      </svg>
    </figure>
  )
}

/** Returns the powers of ten between which the values are, as exponents. */
function decadesOf(values: readonly number[]): readonly [lowest: number, highest: number] {
  const logs = values.filter((value) => value > 0).map(Math.log10)
  return [
    Math.floor(Math.min(...logs)) - 0.2,
    Math.max(Math.ceil(Math.max(...logs)), Math.floor(Math.min(...logs)) + 1),
  ]
}

const superscript = (exponent: number): string =>
  Array.from(String(exponent), (character) => (character === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(character)])).join('')
