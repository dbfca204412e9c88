/** The words of the API this page uses, by the names people use for them. */
import type { Schemas } from './client'

export type Event = Schemas['Event']
export type Call = Schemas['Call']
export type Session = Schemas['Session']
export type SessionDetail = Schemas['SessionDetail']
export type AgentNode = Schemas['AgentNode']
export type TraceItem = Schemas['TraceItem']
export type ModelRequest = Schemas['ModelRequest']
export type ErrorGroup = Schemas['ErrorGroup']
export type Approval = Schemas['Approval']
export type Sandbox = Schemas['Sandbox']
export type Usage = Schemas['Usage']
export type UsagePoint = Schemas['UsagePoint']
export type Port = Schemas['Port']
export type File = Schemas['File']
export type Snapshot = Schemas['Snapshot']
export type Execution = Schemas['Execution']
export type EventSelection = Schemas['EventSelection']
export type ServerFrame = Schemas['ServerFrame']
export type Risk = 'low' | 'medium' | 'high' | 'critical'
export type Verdict = 'allow' | 'ask' | 'deny'
