package io.understudy.mirror.auth;

import io.etcd.jetcd.api.Permission;
import io.understudy.mirror.auth.Authorisation.GrantedRange;
import io.understudy.mirror.auth.PasswordFile.PasswordHash;
import io.understudy.mirror.call.CallFailedException;

/**
 * A target's authorisation and the register of what was brought there. Each change can be made again; one that is there
 * already changes nothing.
 */
interface AuthTarget {

    /** A step that brings a target's authorisation nearer to the source's. */
    @FunctionalInterface
    interface Change {
        void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException;
    }

    /** Registers the role first. */
    void addRole(String role) throws CallFailedException, InterruptedException, OvertakenException;

    /** Grants a permission, in place of the role's permission for the same range. */
    void grant(String role, GrantedRange range, Permission.Type type)
            throws CallFailedException, InterruptedException, OvertakenException;

    void revoke(String role, GrantedRange range) throws CallFailedException, InterruptedException, OvertakenException;

    /** Deletes the role, also from its users, then from the register. */
    void deleteRole(String role) throws CallFailedException, InterruptedException, OvertakenException;

    /** Registers the user first, without a password. */
    void addUser(String user) throws CallFailedException, InterruptedException, OvertakenException;

    void giveRole(String user, String role) throws CallFailedException, InterruptedException, OvertakenException;

    void takeRole(String user, String role) throws CallFailedException, InterruptedException, OvertakenException;

    /** Registers the hash's digest afterwards. */
    void setPassword(String user, PasswordHash hash)
            throws CallFailedException, InterruptedException, OvertakenException;

    /** Deletes the user, then its entry in the register. */
    void deleteUser(String user) throws CallFailedException, InterruptedException, OvertakenException;

    /** The compared state is outdated; the comparison must be repeated. */
    static final class OvertakenException extends Exception {

        OvertakenException(String why) {
            super(why);
        }
    }
}
