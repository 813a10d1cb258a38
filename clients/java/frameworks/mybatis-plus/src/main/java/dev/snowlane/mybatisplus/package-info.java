/** An IdentifierGenerator of MyBatis-Plus whose IDs come from Snowlane. */
package dev.snowlane.mybatisplus;
