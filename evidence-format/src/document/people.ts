/** Who or what acted. `person` is the human behind the credential and refers to `people`. Null for the service, for connections and for keys without a member. */
export interface Person {
  kind: 'member' | 'api_key' | 'connection' | 'system';
  id: string | null;
  name: string;
  person: string | null;
}

/** A human, or a credential behind which no human is known. */
export interface PersonFacts {
  id: string;
  name: string;
  email: string | null;
  /** At `as_of`. Null for a former member and for a credential without a member. */
  role: string | null;
  /** How the person last signed in before `as_of`. */
  signs_in_with: 'password' | 'sso' | 'api_key' | null;
  /** Person who made the credential: who added the member or last set the password for them. Null if nobody else did. */
  credential_from: string | null;
}
