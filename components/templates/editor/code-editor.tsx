'use client'
/**
 * The editor of the lab's texts: CodeMirror with a controlled text. It does not handle undo, because one history contains all
 * texts of the lab; the page handles the undo keys.
 */
import { defaultKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Annotation, EditorState, type Extension, StateEffect, StateField } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react'
import { commonText } from '#lib/util/common-prefix.ts'
import { jinjaLanguage } from './jinja-language.ts'

/** An error in the text, shown at its position. */
export interface CodeProblem {
  readonly message: string
  /** Line from 1. */
  readonly line: number
  /** Column from 1; undefined if unknown. */
  readonly column: number | undefined
}

/** A line to scroll to and mark. A new object with the same line scrolls again. */
export interface ShownLine {
  readonly line: number
}

interface CodeEditorProps {
  readonly label: string
  readonly language: 'jinja' | 'json'
  readonly text: string
  readonly problem: CodeProblem | undefined
  readonly shownLine?: ShownLine | undefined
  readonly onChange: (text: string) => void
  /** Called with the line of the cursor, from 1. */
  readonly onCursor?: ((line: number) => void) | undefined
}

/** Shows a text with syntax colours and its error. */
export function CodeEditor({ label, language, text, problem, shownLine, onChange, onCursor }: CodeEditorProps) {
  const frame = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView>(undefined)
  const initialText = useEffectEvent(() => text)
  const labelAttributes = useEffectEvent(() =>
    EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-description': 'Escape, then Tab leaves the editor.',
      tabindex: '0',
    }),
  )
  const reportChange = useEffectEvent((changed: string) => onChange(changed))
  const reportCursor = useEffectEvent((line: number) => onCursor?.(line))

  // The editor replaces the text that was shown while its code was loaded, so it must exist before the browser paints.
  useLayoutEffect(() => {
    if (!frame.current) return
    const view = new EditorView({
      parent: frame.current,
      state: EditorState.create({
        doc: initialText(),
        extensions: [
          labelAttributes(),
          surroundings(),
          LANGUAGES[language](),
          EditorView.updateListener.of(({ docChanged, selectionSet, state, transactions, view: { hasFocus } }) => {
            if (docChanged && !transactions.some((transaction) => transaction.annotation(fromOutside)))
              reportChange(state.doc.toString())
            if ((selectionSet || docChanged) && hasFocus)
              reportCursor(state.doc.lineAt(state.selection.main.head).number)
          }),
        ],
      }),
    })
    editor.current = view
    return () => view.destroy()
  }, [language])

  useEffect(() => {
    const view = editor.current
    if (view) replaceText(view, text)
  }, [text])

  useEffect(() => {
    const view = editor.current
    if (view) view.dispatch(setDiagnostics(view.state, problem ? [diagnostic(view.state, problem)] : []))
    // The position of a problem belongs to the text in which it was found, so the effect follows the problem only.
  }, [problem])

  useEffect(() => {
    const view = editor.current
    if (!view) return
    const line = shownLine && shownLine.line <= view.state.doc.lines ? view.state.doc.line(shownLine.line) : undefined
    view.dispatch({
      effects: [markLine.of(line?.from), ...(line ? [EditorView.scrollIntoView(line.from, { y: 'center' })] : [])],
    })
  }, [shownLine])

  return <div ref={frame} className="code-editor h-full min-h-0" data-code-editor={language} />
}

/** Marks a change that came from the document and not from the keyboard. */
const fromOutside = Annotation.define<true>()

/** Replaces only the part that differs, so that the cursor keeps its position. A step of undo scrolls to the change. */
function replaceText(view: EditorView, text: string): void {
  const old = view.state.doc.toString()
  if (old === text) return
  const from = commonText(old, text)
  let suffixLength = 0
  while (
    suffixLength < old.length - from &&
    suffixLength < text.length - from &&
    old.charCodeAt(old.length - 1 - suffixLength) === text.charCodeAt(text.length - 1 - suffixLength)
  )
    suffixLength++
  const insert = text.slice(from, text.length - suffixLength)
  view.dispatch({
    changes: { from, to: old.length - suffixLength, insert },
    ...(view.hasFocus && { selection: { anchor: from + insert.length }, scrollIntoView: true }),
    annotations: fromOutside.of(true),
  })
}

/** Returns the marker of a problem: from its column to the end of the line, or the whole line if the column is unknown. */
function diagnostic({ doc }: EditorState, { message, line, column }: CodeProblem): Diagnostic {
  const { from, to, length } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  const indent = /^\s*/.exec(doc.sliceString(from, to))?.[0].length ?? 0
  const start = column === undefined ? Math.min(indent, length) : Math.min(column - 1, length)
  // An empty range has no squiggle, so at the end of a line the last character gets it.
  return { from: from + Math.min(start, Math.max(length - 1, 0)), to, severity: 'error', message }
}

const markLine = StateEffect.define<number | undefined>()
const markedLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, effects }) {
    const mapped = marks.map(changes)
    const effect = effects.find((known) => known.is(markLine))
    if (!effect) return mapped
    return effect.value === undefined
      ? Decoration.none
      : Decoration.set(Decoration.line({ class: 'cm-markedLine' }).range(effect.value))
  },
  provide: (field) => EditorView.decorations.from(field),
})

const LANGUAGES: Readonly<Record<'jinja' | 'json', () => Extension>> = {
  jinja: () => jinjaLanguage,
  json: () => [json(), foldGutter(), keymap.of(foldKeymap)],
}

const INK = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.bool, tags.null], color: 'var(--tool)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--accent)' },
  { tag: [tags.number], color: 'var(--warn)' },
  { tag: [tags.comment], color: 'var(--faint)', fontStyle: 'italic' },
  { tag: [tags.brace, tags.operator, tags.punctuation, tags.paren], color: 'var(--dim)' },
  { tag: [tags.special(tags.variableName)], color: 'var(--code-filter)' },
  { tag: [tags.propertyName], color: 'var(--ink)' },
])

const THEME = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--ground)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--font-mono)',
    lineHeight: '20px',
    fontVariantLigatures: 'none',
    overscrollBehavior: 'contain',
  },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-line': { padding: '0 12px 0 6px' },
  '.cm-gutters': { backgroundColor: 'var(--ground)', color: 'var(--faint)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 4px 0 10px', minWidth: '36px' },
  '.cm-gutter-lint': { width: '14px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '3px 0 0 2px' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--ink) 4%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--ink)' },
  '.cm-markedLine': { backgroundColor: 'var(--accent-soft)', boxShadow: 'inset 2px 0 0 var(--accent)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 26%, transparent)',
  },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--accent) 14%, transparent)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'transparent',
    boxShadow: '0 0 0 1px var(--line-strong)',
    borderRadius: '2px',
  },
  '&.cm-focused .cm-nonmatchingBracket': { color: 'var(--bad)', backgroundColor: 'transparent' },
  '.cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--ink)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panels.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '8px 28px 8px 12px', fontFamily: 'var(--font-sans)' },
  '.cm-panel.cm-search label': {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '4px',
    fontSize: '12px',
    color: 'var(--dim)',
  },
  '.cm-panel.cm-search input[type=checkbox]': { accentColor: 'var(--accent)', margin: '0' },
  '.cm-panel.cm-search .cm-textfield': { width: '160px' },
  '.cm-textfield': {
    border: '1px solid var(--line)',
    borderRadius: '6px',
    backgroundColor: 'var(--raised)',
    padding: '3px 8px',
    fontSize: '12.5px',
  },
  '.cm-button': {
    border: '1px solid var(--line)',
    borderRadius: '6px',
    backgroundImage: 'none',
    backgroundColor: 'var(--raised)',
    padding: '3px 8px',
    fontSize: '12.5px',
  },
  '.cm-panel.cm-search [name=close]': { fontSize: '16px', padding: '4px 8px', cursor: 'pointer' },
  '.cm-searchMatch': { backgroundColor: 'var(--code-match)' },
  '.cm-searchMatch-selected': { boxShadow: '0 0 0 1px var(--ink)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    overflow: 'hidden',
  },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--panel)', border: '1px solid var(--line)', color: 'var(--dim)' },
  '.cm-specialChar': { color: 'var(--bad)' },
})

/** Time in milliseconds in which Tab leaves the editor after Escape; any other key ends it earlier. */
const TAB_LEAVES_MS = 600_000

function leaveByTab(view: EditorView): boolean {
  view.setTabFocusMode(TAB_LEAVES_MS)
  return false
}

/** Replaces a selection of several lines by typed text. The browser would join the lines with styles that the content security policy refuses. */
function replaceLines({ inputType, data, isComposing }: InputEvent, view: EditorView): boolean {
  const { doc, selection } = view.state
  const { from, to } = selection.main
  if (inputType !== 'insertText' || data === null || isComposing || doc.lineAt(from).to >= to) return false
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
  return true
}

function surroundings(): Extension {
  return [
    // The content security policy accepts only styles with the nonce.
    EditorView.cspNonce.of(document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''),
    lineNumbers(),
    lintGutter(),
    highlightSpecialChars(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    drawSelection(),
    bracketMatching(),
    indentOnInput(),
    indentUnit.of('  '),
    search({ top: true }),
    highlightSelectionMatches(),
    markedLine,
    syntaxHighlighting(INK),
    THEME,
    EditorView.lineWrapping,
    EditorView.domEventHandlers({ beforeinput: replaceLines }),
    keymap.of([
      ...searchKeymap,
      ...defaultKeymap,
      // Tab indents. After Escape it moves the focus, so that keyboard users can leave the editor.
      { key: 'Escape', run: leaveByTab },
      indentWithTab,
    ]),
  ]
}
