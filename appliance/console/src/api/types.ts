// The answers of the admin interface, as frontends/admin/openapi.yaml describes them.

export interface Usage {
  bytes: number;
  files: number;
  directories: number;
}
export interface Limits {
  bytes: number | null;
  files: number | null;
  soft_bytes: number | null;
  soft_files: number | null;
  grace_seconds: number;
  count?: UsageClass[]; // of directories and their new children: classes counted beside live
}
// Classes that a quota may count or not.
export const usageClasses = ['recycled', 'open_but_deleted', 'multipart'] as const;
export type UsageClass = (typeof usageClasses)[number];
export interface Space {
  total: number;
  free: number;
  available: number;
}
export interface Volume {
  id: string;
  name: string;
  created: string;
  usage: Usage;
  space: Space;
}
export interface Protocol {
  name: string;
  open: boolean;
  address: string;
}
export interface DataDirectory {
  path: string;
  ok: boolean;
  problem: string;
  total: number;
  free: number;
}
export interface HealthProblem {
  kind: string;
  path: string;
  facts: Record<string, string | number>;
  text: string; // English sentence for the kind and its facts
}
export interface DamagedRange {
  id: string;
  path: string; // empty: the file has none
  offset: number;
  length: number;
  text: string;
}
export interface Status {
  healthy: boolean;
  problems: HealthProblem[];
  version: string;
  pid: number;
  started: string;
  data: string;
  engine: string;
  volume: Volume;
  protocols: Protocol[];
  data_directories: DataDirectory[];
  damage: DamagedRange[];
  check: string;
}
export interface ProtocolActivity {
  name: string;
  operations: number;
  errors: number;
  bytes_read: number;
  bytes_written: number;
  latency: { p50: number | null; p99: number | null; counts: number[] };
}
export interface Activity {
  time: string;
  time_ns: number;
  capacity: { total: number; used: number; free: number; available: number }; // of the disks; `available` is less where
                                                                              // a quota on / leaves less
  protocols: ProtocolActivity[];
}
export interface Session {
  name: string;
  role: string;
  directory?: string | null;
}

export interface ClientRule {
  network: string;
  read_only: boolean;
  squash: 'none' | 'root' | 'all';
  anonymous_uid?: number;
  anonymous_gid?: number;
}
export interface Export {
  id: number;
  name: string;
  path: string;
  path_base64?: string;
  protocols: string[];
  read_only: boolean;
  clients: ClientRule[];
  security: string[];
  native_tls: 'offered' | 'required';
  owner: string;
  created: string;
}
export interface KeyState {
  access_key: string;
  enabled: boolean;
}
export interface Key extends KeyState {
  secret_key: string;
}
export interface User {
  name: string;
  uid: number;
  gid: number;
  groups: number[];
  principal: string;
  sid: string;
  keys: KeyState[];
}
export interface Group {
  name: string;
  gid: number;
  sid: string;
}
// Files and directories of the volume.
export interface OwnerCountProgress {
  looked_at: number;
  in_all: number;
}
export interface Quota {
  path: string;
  path_base64?: string;
  directory_id?: string;
  uid?: number;
  user?: string | null;
  gid?: number;
  group?: string | null;
  limits: Limits;
  usage: Usage;
  usage_counted: Usage; // compared with the limits
  usage_by_class: Record<UsageClass, Usage>;
  over_soft_since: { bytes: string | null; files: string | null };
  children?: Limits | null;
  counts_owners?: boolean;
  counted?: { live: boolean; open_but_deleted: boolean; recycled: boolean | null; multipart: boolean };
  counting?: OwnerCountProgress | null;
}
export interface QuotaList {
  quotas: Quota[];
  truncated: boolean;
  next_after?: string;
}
export interface OwnerList {
  owners: Quota[];
  counting: OwnerCountProgress | null;
  truncated: boolean;
  next_after?: string;
}

export const resources = ['read_bytes', 'write_bytes', 'read_ops', 'write_ops', 'metadata_ops'] as const;
export type Resource = (typeof resources)[number];
export type QosLimits = { [K in Resource | `guarantee_${Resource}`]: number | null } & { burst_ms: number; weight: number };
export type QosUse = { [K in Resource]: number } & { parked: number; refused: number; waiting: number };
export interface QosClass {
  target: string;
  limits: QosLimits;
  use: QosUse;
}
export interface QosList {
  qos_classes: QosClass[];
  time_ns: number;
  truncated: boolean;
  next_after?: string;
}
export interface Client {
  id: string;
  protocol: string;
  version: string;
  address: string;
  name: string;
  opens: number;
  locks: number;
  leases: number;
  silent_seconds: number;
}

export interface Entry {
  name: string;
  name_base64?: string;
  id: string;
  type: string;
  mode?: string;
  links?: number;
  uid?: number;
  gid?: number;
  size?: number;
  mtime?: string;
}
export interface Directory {
  path: string;
  entries: Entry[];
  end: boolean;
  next_cookie?: string;
}
export interface ChildUsage {
  name: string;
  name_base64?: string;
  usage: Usage;
  limits: Limits;
}
export interface UsageReply {
  path: string;
  usage: Usage;
  usage_counted?: Usage; // of directories
  limits: Limits;
  children?: ChildUsage[];
  end?: boolean;
  next_cookie?: string;
}
export interface Holder {
  id: string;
  name?: string;
  address?: string;
}
export interface HeldLock {
  client: Holder;
  offset: number;
  length: number | null;
  exclusive: boolean;
}
export interface HeldList<Row> {
  total: number;
  list: Row[];
}
export interface Held {
  opens: HeldList<{ client: Holder; count: number; access: string[]; deny: string[] }>;
  locks: HeldList<HeldLock>;
  leases: HeldList<{ client: Holder; kind: 'read' | 'write' | 'handle'; recalled: boolean }>;
  waiting: HeldList<HeldLock>;
}
export interface Explanation {
  path: string;
  access?: { user: string; uid: number; stopped_at: string | null; granted: string[]; denied: string[] };
  exports: Export[];
  quotas: (Quota & { full: boolean })[];
  held: Held;
  qos_classes: QosClass[];
  bytes_free: number;
  causes: Cause[];
}

export interface Cause {
  code: string;
  parameters: Record<string, unknown>; // as openapi.yaml lists them
  what: string; // English sentence for the code and its parameters
}

export interface Finding {
  kind: string;
  facts: Record<string, string>;
  text: string; // English sentence for the kind and its facts
}
export interface Report {
  ok: boolean;
  inodes: number;
  directories: number;
  files: number;
  blobs: number;
  bytes: number;
  problems: Finding[];
  problem_count: number;
}
export interface Check {
  state: 'idle' | 'running' | 'done' | 'failed';
  read_data?: boolean;
  started?: string;
  finished?: string;
  done?: number;
  total?: number;
  report?: Report;
  error?: string;
}

export interface RecycleItem {
  id: string;
  path: string | null; // null: the directory that it was in is gone
  name: string;
  type: string;
  bytes: number;
  deleted_at: string;
  deleted_by: { uid: number; user: string | null };
  protocol: string;
  client: string;
}
export interface RecycleList {
  items: RecycleItem[];
  next: string | null;
}
export interface RecycleRules {
  path: string;
  enabled: boolean;
  days: number;
  bytes_max: number | null;
  restore: 'owner' | 'admin';
  counted: boolean;
}
export interface RecyclePolicy extends RecycleRules {
  set_on: string | null;
  own: boolean;
  used: { bytes: number; items: number };
}
export interface AuditRecord {
  cursor: string;
  time: string;
  user: Actor | null;
  operation: string;
  path: string;
  to_path?: string | null;
  request?: string; // of an administrator; or the operation that a protocol refused, and the reason
  claimed?: string; // claimed identity of its caller
  protocol: string;
  client: string;
  result: string;
}
export interface AuditList {
  records: AuditRecord[];
  next: string | number | null;
}
export const auditClasses = ['write', 'delete', 'rename', 'attributes', 'read', 'list', 'denied', 'admin'] as const;
export type AuditClass = (typeof auditClasses)[number];
export interface AuditPolicy {
  path: string;
  set_on: string | null;
  classes: AuditClass[];
}
export interface Verification {
  records: number;
  days: number;
  ok: boolean;
  problem: string | null;
}
export interface Actor {
  uid: number | null;
  name: string | null;
}
export interface UserCount {
  user: Actor | null;
  count: number;
}
export interface UserBytes {
  user: Actor | null;
  bytes: number;
}
export interface Growth {
  bytes: number;
  files: number;
}
export interface DayReport {
  day: string;
  records: number;
  operations: Record<string, number>;
  users: UserCount[];
  deletes: { total: number; users: UserCount[] };
  denials: { total: number; users: UserCount[] };
  written?: { total: number; users: UserBytes[] };
  read?: { total: number; users: UserBytes[] };
  lost: number;
  growth: Growth | null;
  directories?: { total: number; most: { path: string; path_base64?: string; bytes: number; files: number; growth: Growth | null }[] } | null;
}
export interface StoaEvent {
  sequence: number | string;
  time: string;
  severity: 'info' | 'warning' | 'critical';
  what: string;
  facts: Record<string, string>;
  path: string | null;
  message: string; // English sentence for the kind and its facts
}
export interface EventList {
  events: StoaEvent[];
  next: string | number | null;
}
export const roles = ['admin', 'operator', 'auditor', 'owner'] as const;
export type Role = (typeof roles)[number];
export interface Token {
  name: string;
  role: Role;
  directory?: string | null;
  created: string;
  expires?: string | null;
  last_used?: string | null;
}
