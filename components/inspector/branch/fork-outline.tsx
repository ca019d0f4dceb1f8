'use client'
import { useQuery } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import { Heading } from '#components/ui/facts.tsx'
import { treeOptions } from '#lib/browser/library/branches.ts'
import { BranchList } from './branch-list.tsx'
import { ForkRelation } from './fork-relation.tsx'

interface ForkOutlineProps extends ComponentProps<typeof ForkRelation> {
  /** The parts below. They are shown when the branches are known, so that these do not move them. */
  readonly children: ReactNode
}

/** Shows where a trajectory was forked and the branches of its tree, above the other parts of the outline. */
export function ForkOutline({ children, ...relation }: ForkOutlineProps) {
  const { isPending, failureCount } = useQuery(treeOptions(relation.storedKey))
  return (
    <>
      <Heading>Fork</Heading>
      <ForkRelation {...relation} />
      <BranchList storedKey={relation.storedKey} />
      {(!isPending || failureCount > 0) && children}
    </>
  )
}
