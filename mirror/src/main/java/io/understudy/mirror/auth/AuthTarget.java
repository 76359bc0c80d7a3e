package io.understudy.mirror.auth;

import io.etcd.jetcd.api.Permission;
import io.understudy.mirror.call.CallFailedException;

/**
 * A target's authorisation and the register of what was brought there. Each change can be made again; one that is there
 * already changes nothing.
 */
interface AuthTarget {

    /** Registers the role first. */
    void addRole(String role) throws CallFailedException, InterruptedException, OvertakenException;

    /** In place of what the role was granted for just that range. */
    void grant(String role, GrantedRange range, Permission.Type type)
            throws CallFailedException, InterruptedException, OvertakenException;

    void revoke(String role, GrantedRange range) throws CallFailedException, InterruptedException, OvertakenException;

    /** Takes it away from its users too, and from the register afterwards. */
    void deleteRole(String role) throws CallFailedException, InterruptedException, OvertakenException;

    /** Registers the user first, without a password. */
    void addUser(String user) throws CallFailedException, InterruptedException, OvertakenException;

    void giveRole(String user, String role) throws CallFailedException, InterruptedException, OvertakenException;

    void takeRole(String user, String role) throws CallFailedException, InterruptedException, OvertakenException;

    /** Registers the hash's digest afterwards. */
    void setPassword(String user, PasswordHash hash)
            throws CallFailedException, InterruptedException, OvertakenException;

    /** From the register afterwards too. */
    void deleteUser(String user) throws CallFailedException, InterruptedException, OvertakenException;
}
