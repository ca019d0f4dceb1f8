/** All commands of the page of sessions. Its keys and the list of keys read this table. */
import type { Command } from '#components/commands/command.ts'

/** The state of the page that the commands read, and the functions by which they change it. */
export interface SessionsScreenState {
  readonly stepSession: (step: 1 | -1) => void
  readonly stepCall: (step: 1 | -1) => void
  /** Compares the call with the history that it changed. Undefined if it changed none. */
  readonly compare: (() => void) | undefined
}

/** Groups of the commands, in the order of the list of keys. */
export const SESSION_GROUPS = ['Sessions'] as const

/** All commands of the page, in the order in which they are listed. */
export const SESSION_COMMANDS: readonly Command<SessionsScreenState, (typeof SESSION_GROUPS)[number]>[] = [
  {
    name: 'next-session',
    title: 'Next session',
    group: 'Sessions',
    keys: ['j'],
    run: ({ stepSession }) => stepSession(1),
  },
  {
    name: 'previous-session',
    title: 'Previous session',
    group: 'Sessions',
    keys: ['k'],
    run: ({ stepSession }) => stepSession(-1),
  },
  {
    name: 'next-call',
    title: 'Next call',
    group: 'Sessions',
    keys: ['ArrowDown'],
    run: ({ stepCall }) => stepCall(1),
  },
  {
    name: 'previous-call',
    title: 'Previous call',
    group: 'Sessions',
    keys: ['ArrowUp'],
    run: ({ stepCall }) => stepCall(-1),
  },
  {
    name: 'compare',
    title: 'Compare the call with the history that it changed',
    group: 'Sessions',
    keys: ['c'],
    obstacle: ({ compare }) =>
      compare ? undefined : 'This call did not leave the path of an earlier one: select a fork.',
    run: ({ compare }) => compare?.(),
  },
]
