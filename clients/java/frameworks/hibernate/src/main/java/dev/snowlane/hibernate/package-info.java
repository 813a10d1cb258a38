/** Entities of Hibernate 6.6 and 7 whose IDs come from Snowlane. */
package dev.snowlane.hibernate;
