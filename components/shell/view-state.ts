'use client'
import { createSerializer, parseAsFloat, parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs'
import { INSPECTOR_TABS, type InspectorView } from '#components/inspector/inspection.ts'
import { readSelection, type Selection, selectionText, single } from '#components/token-view/selection.ts'
import { useAddress } from './use-address.ts'

const NAMES = {
  t: parseAsString,
  group: parseAsString,
  at: parseAsString,
  tab: parseAsStringLiteral(INSPECTOR_TABS).withDefault('tokens'),
  colour: parseAsString.withDefault('logprob'),
  limit: parseAsFloat,
  find: parseAsString.withDefault(''),
  scatter: parseAsString,
  clip: parseAsString,
  pair: parseAsString,
  format: parseAsString,
  opened: parseAsInteger,
  list: parseAsString,
}

const serialize = createSerializer(NAMES)

/** Returns the view that the address stores, and functions that change it. A copied link shows the same view. */
export function useViewState() {
  const [{ t, group, at, tab, colour, limit, find, scatter, clip, pair, format, opened, list }, set] = useAddress(NAMES)
  const view: InspectorView = {
    tab,
    colour,
    limit: limit ?? undefined,
    selection: at === null ? undefined : readSelection(at),
    find,
    scatter: scatter ?? undefined,
    clip: clip ?? undefined,
    pair: pair ?? undefined,
    format: format ?? undefined,
  }
  return {
    key: t ?? undefined,
    view,
    /** Number of trajectories in the file that was just opened; undefined if it has only one. */
    opened: opened !== null && opened > 1 ? opened : undefined,
    /** Query of the list from which the trajectory was opened; undefined if the address names none. */
    list: list ?? undefined,
    /** Id of the group of the shown sample. */
    group: group ?? undefined,
    setKey: (key: string | undefined) => set({ t: key ?? null, group: null, at: null }, { history: 'push' }),
    /** `history` is `push` for a new page, and `replace` between samples of one group. A given token is selected. */
    setSample: (
      { key, group, token }: { readonly key: string; readonly group: string; readonly token?: number | undefined },
      history: 'push' | 'replace',
    ) =>
      set(
        { t: key, group, ...(token !== undefined ? { at: selectionText(single(token)) } : key !== t && { at: null }) },
        { history },
      ),
    setView: (change: Partial<InspectorView>) => set(namesOf(change)),
    setSelection: (selection: Selection | undefined) => set(namesOf({ selection })),
    forgetOpened: () => set({ opened: null }),
    /** Returns the address of another path with the current view, including changes that the browser does not show yet. */
    addressAt: (path: string) => serialize(path, { t, opened, ...namesOf(view) }),
    /** Returns the address of another trajectory of the same list, with the same view. */
    besideAt: (path: string) => serialize(path, { list, ...namesOf({ ...view, selection: undefined }) }),
    /** Returns an absolute address that restores this view, with the given changes, even while the browser's address is not updated yet. */
    link: (change: Partial<InspectorView> = {}) =>
      new URL(
        serialize(window.location.pathname, { t, group, ...namesOf({ ...view, ...change }) }),
        window.location.href,
      ).href,
  }
}

/** Returns the changes by their names in the address; null removes a name. */
function namesOf(change: Partial<InspectorView>) {
  const { selection, ...others } = change
  const names = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, value ?? null]))
  return 'selection' in change ? { ...names, at: selection ? selectionText(selection) : null } : names
}
