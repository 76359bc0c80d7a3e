package io.understudy.mirror.auth;

import io.etcd.jetcd.api.Permission;
import io.understudy.mirror.call.CallFailedException;

/** A step that brings a target's authorisation nearer to the source's. */
sealed interface AuthChange {

    void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException;

    /** A role that the target lacks. */
    record AddRole(String role) implements AuthChange {
        @Override
        public void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException {
            target.addRole(role);
        }
    }

    /** A grant that the target lacks, or has of another type. */
    record Grant(String role, GrantedRange range, Permission.Type type) implements AuthChange {
        @Override
        public void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException {
            target.grant(role, range, type);
        }
    }

    /** A grant that the source doesn't have. */
    record Revoke(String role, GrantedRange range) implements AuthChange {
        @Override
        public void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException {
            target.revoke(role, range);
        }
    }

    /** A role that is missing in the source, and perhaps only registered. */
    record DeleteRole(String role) implements AuthChange {
        @Override
        public void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException {
            target.deleteRole(role);
        }
    }

    /** A user missing in the target. */
    record AddUser(String user) implements AuthChange {
        @Override
        public void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException {
            target.addUser(user);
        }
    }

    /** A role that the user has at the source. */
    record GiveRole(String user, String role) implements AuthChange {
        @Override
        public void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException {
            target.giveRole(user, role);
        }
    }

    /** A role that the user doesn't have at the source. */
    record TakeRole(String user, String role) implements AuthChange {
        @Override
        public void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException {
            target.takeRole(user, role);
        }
    }

    /** A password that the user hasn't been given yet. */
    record SetPassword(String user, PasswordHash hash) implements AuthChange {
        @Override
        public void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException {
            target.setPassword(user, hash);
        }
    }

    /** A user that is missing in the source, and perhaps only registered. */
    record DeleteUser(String user) implements AuthChange {
        @Override
        public void applyTo(AuthTarget target) throws CallFailedException, InterruptedException, OvertakenException {
            target.deleteUser(user);
        }
    }
}
