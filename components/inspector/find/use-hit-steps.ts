'use client'
import { useEffectEvent, useRef } from 'react'
import type { Inspection } from '../inspection.ts'
import { usePanelCommand } from '../selection/panel-commands.ts'
import { chosenHit, selectionOfHit, stepFrom } from './hit-steps.ts'
import { useFind } from './use-find.ts'

/** Direction of a step: to the next hit or to the previous one. */
export type StepDirection = 1 | -1

/** Searches for the query of the address, and returns the steps from hit to hit. */
export function useHitSteps(inspection: Inspection) {
  const { view, onSelect, inSight, say, offer } = inspection
  /** Direction of a step that was requested before the result arrived. */
  const wanted = useRef<StepDirection>(undefined)
  const stepIn = (hits: Int32Array, direction: StepDirection) => {
    const next = stepFrom(hits, view.selection, inSight, direction)
    if (!next) return
    onSelect(selectionOfHit(hits, next.hit), 'tokens')
    if (next.isAround)
      say(direction === 1 ? 'The search continued from the first hit.' : 'The search continued from the last hit.')
  }
  const stepIfWanted = useEffectEvent((hits: Int32Array) => {
    const direction = wanted.current
    wanted.current = undefined
    if (direction !== undefined) stepIn(hits, direction)
  })
  const { state, again } = useFind(inspection, (hits) => stepIfWanted(hits))
  const { hits } = state
  const step = (direction: StepDirection) => stepIn(hits, direction)
  usePanelCommand(offer, 'next-hit', hits.length > 0 ? () => step(1) : undefined)
  usePanelCommand(offer, 'previous-hit', hits.length > 0 ? () => step(-1) : undefined)
  return {
    state,
    again,
    chosen: chosenHit(hits, view.selection),
    step,
    /** Steps when the result of the next search arrives; undefined cancels such a step. */
    stepWhenFound: (direction: StepDirection | undefined) => {
      wanted.current = direction
    },
  }
}
