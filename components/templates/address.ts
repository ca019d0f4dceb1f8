'use client'
import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs'
import { useAddress } from '#components/shell/use-address.ts'
import type { LabDocument } from '#lib/templates/document/document.ts'
import type { SharedView } from '#lib/templates/document/shared-document.ts'
import { sourceLink } from '#lib/templates/document/source.ts'
import { LAB_VIEW_NAMES, type LabView, type LabViewName } from './lab-tab.ts'

/** Parts of the document that the left pane can show. */
export const LAB_PARTS = ['template', 'messages', 'tools', 'options'] as const
/** Name of a part of the document. */
export type LabPart = (typeof LAB_PARTS)[number]
const FORMS = ['form', 'json'] as const
/** How messages, tools and options are edited: as a form or as JSON. */
export type LabForm = (typeof FORMS)[number]

const tabNames = Object.fromEntries(LAB_VIEW_NAMES.map((name) => [name, parseAsString])) as {
  [name in LabViewName]: typeof parseAsString
}

/** Reads the lab's view and document from the page's address. Another browser shows the same as far as it has the sources. */
export function useLabAddress() {
  const [{ tab, part, as, from, t, tokenizer, revision, ...tabs }, set] = useAddress({
    tab: parseAsString,
    part: parseAsStringLiteral(LAB_PARTS).withDefault('template'),
    as: parseAsStringLiteral(FORMS).withDefault('form'),
    from: parseAsString,
    t: parseAsString,
    tokenizer: parseAsString,
    revision: parseAsInteger,
    ...tabNames,
  })
  return {
    tab: tab ?? undefined,
    part,
    as,
    linked: {
      from: from ?? undefined,
      trajectory: t ?? undefined,
      tokenizer: tokenizer ?? undefined,
      revision: revision ?? undefined,
    },
    view: Object.fromEntries(Object.entries(tabs).map(([name, value]) => [name, value ?? undefined])) as LabView,
    show: (view: { readonly tab?: string; readonly part?: LabPart; readonly as?: LabForm }) => set(view),
    setView: (change: LabView) =>
      set(Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? null]))),
    /** Writes the view of a shared document. `against` is the number of the other revision in the A/B tab. */
    showShared: ({ tab, part, as, ...shared }: SharedView, against: number | undefined) =>
      set({
        ...(Object.fromEntries(LAB_VIEW_NAMES.map((name) => [name, null])) as { [name in LabViewName]: null }),
        ...shared,
        tab: tab ?? null,
        part: part ?? null,
        as: as ?? null,
        against: against === undefined ? null : String(against),
      }),
    /** Writes the source, trajectory, tokenizer and revision from which the document can be opened again. */
    follow: (document: LabDocument) =>
      set({
        from: sourceLink(document.source) ?? null,
        t: document.trajectory ?? null,
        tokenizer: document.tokenizer,
        revision: document.shown,
      }),
  }
}

/** The view and the document of the page's address. */
export type LabAddress = ReturnType<typeof useLabAddress>

/** The document that a link names; undefined fields are absent from the address. */
export type LabLink = LabAddress['linked']

/** Returns whether the address names the document. */
export const isFollowed = ({ from, trajectory, tokenizer, revision }: LabLink, document: LabDocument): boolean =>
  from === sourceLink(document.source) &&
  trajectory === document.trajectory &&
  tokenizer === document.tokenizer &&
  revision === document.shown
